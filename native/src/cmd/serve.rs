//! `evenkeel serve`: the planning page on this machine, with the groups of a live cluster.
//!
//! It listens on the loopback only and has no passwords: whoever can run programs here may look. Pages of other sites
//! cannot: a browser does not let them read the answers, and a name of theirs that leads to this machine (DNS
//! rebinding) is not one that is answered to.

mod live;
mod page;

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use super::live::servers;
use super::output;
use super::signals::Signals;
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clap::Args;
use live::Live;
use page::Page;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Options of `serve`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Where to listen: an address of the loopback; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Change nothing in the cluster; that is all there is
    #[arg(long)]
    read_only: bool,
    /// Serve the built page of this folder and not the one inside the binary
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let mut signals = Signals::listen();
    if !options.listen.ip().is_loopback() {
        let text = format!("--listen {}: not an address of the loopback", options.listen);
        return Err(Failure::usage(text)
            .with_hint("others can be let in by an SSH tunnel, or by a proxy that asks who they are"));
    }
    let page = match &options.page {
        Some(folder) => Page::of_folder(folder)?,
        None => Page::inside()?,
    };
    let cluster = match Cluster::would_be_embedded(global, &global.settings(&[])?)? {
        true => None,
        false => Some(servers(global)?),
    };
    let has_cluster = cluster.is_some();
    let listener = TcpListener::bind(options.listen).await.map_err(|error| {
        Failure::other(format!("cannot listen at {}: {error}", options.listen))
            .with_hint("port 0 takes a free one")
    })?;
    let address = listener.local_addr().map_err(|error| Failure::other(error.to_string()))?;
    let url = format!("http://{address}/");
    if global.format().is_json() {
        output::json(
            &json!({"type": "start", "schema": "evenkeel.serve/1", "url": url, "live": has_cluster}),
        )?;
    } else {
        output::line(&url)?;
    }
    global.say(if has_cluster {
        "evenkeel: the planning page is up, with the groups of the cluster (Ctrl-C ends it)."
    } else {
        "evenkeel: the planning page is up; without a name server (-n host:9876) it shows no live groups."
    });
    tokio::select! {
        served = axum::serve(listener, routes(Live::new(cluster), page)) => {
            served.map(|()| Code::Done).map_err(|error| Failure::other(format!("cannot serve: {error}")))
        }
        _ = signals.next() => Ok(Code::Done),
    }
}

fn routes(live: Live, page: Page) -> Router {
    let (groups, page) = (Arc::new(live), Arc::new(page));
    let group = Arc::clone(&groups);
    Router::new()
        .route("/api/groups", get(move || async move { groups.groups().await }))
        .route("/api/groups/{name}", get(move |name| async move { group.group(name).await }))
        .fallback(get(move |request: Request| async move { page.answer(request.uri().path()) }))
        .layer(middleware::from_fn(only_by_local_names))
}

/// A browser sends the name that it was given. One that is not this machine's leads here by a trick.
async fn only_by_local_names(request: Request, next: Next) -> Response {
    let name = request.headers().get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let is_local = name.is_some_and(|name| {
        let host = name.host().trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    });
    if is_local {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "this page is served to this machine only\n").into_response()
}
