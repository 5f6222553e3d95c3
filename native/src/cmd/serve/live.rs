//! What the page can ask: the groups of the cluster, and one of them as a snapshot. Nothing in the cluster is changed.
//!
//! | path | answer |
//! |---|---|
//! | `/api/groups` | all groups with members, as `evenkeel groups --json` |
//! | `/api/groups/NAME` | `evenkeel.live/1`: `snapshot`, and in `silent` who did not answer |
//!
//! A failure is `{"error":{"text":…,"hint":…}}`: 404 if there is no such group, 503 without a name server, else 502.

use super::super::exit::{Code, Failure};
use super::super::groups;
use super::super::live::silent_json;
use super::super::source;
use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use evenkeel::client::NameServers;
use evenkeel::inspect::{Options as Patience, Which, read_group, read_groups};
use evenkeel_core::model::Group;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// Looks at the cluster that are under way at a time. Each asks every broker and member several questions.
const AT_ONCE: usize = 2;

/// The cluster, if name servers are known.
#[derive(Debug)]
pub(super) struct Live {
    servers: Option<NameServers>,
    turn: Semaphore,
}

impl Live {
    pub(super) fn new(servers: Option<NameServers>) -> Self {
        Self { servers, turn: Semaphore::new(AT_ONCE) }
    }

    pub(super) async fn groups(&self) -> Response {
        answer(self.all().await)
    }

    pub(super) async fn group(&self, Path(name): Path<String>) -> Response {
        answer(self.one(&Group::from(name)).await)
    }

    async fn all(&self) -> Result<Value, Failure> {
        let servers = self.servers()?;
        let _turn = self.turn.acquire().await;
        let which = Which { named: &|_| true, offline: false };
        let seen = read_groups(servers, which, &Patience::default()).await?;
        Ok(groups::value(&seen, seen.groups.len()))
    }

    async fn one(&self, group: &Group) -> Result<Value, Failure> {
        let servers = self.servers()?;
        let _turn = self.turn.acquire().await;
        let seen = read_group(servers, group, &Patience::default()).await?;
        Ok(json!({
            "schema": "evenkeel.live/1",
            "snapshot": source::snapshot(&seen),
            "silent": seen.silent.iter().map(silent_json).collect::<Vec<_>>(),
        }))
    }

    fn servers(&self) -> Result<&NameServers, Failure> {
        self.servers.as_ref().ok_or_else(|| {
            Failure::usage("no name server was given to evenkeel serve")
                .with_hint("start it with -n host:9876, or with NAMESRV_ADDR set")
        })
    }
}

fn answer(result: Result<Value, Failure>) -> Response {
    let no_store = [(CACHE_CONTROL, "no-store")];
    match result {
        Ok(value) => (no_store, Json(value)).into_response(),
        Err(failure) => {
            let status = match failure.code() {
                Code::NotFound => StatusCode::NOT_FOUND,
                Code::Usage => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_GATEWAY,
            };
            let error = json!({"error": {"text": failure.text(), "hint": failure.hint()}});
            (status, no_store, Json(error)).into_response()
        }
    }
}
