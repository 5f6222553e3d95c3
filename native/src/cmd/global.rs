//! Options that every subcommand has.

use super::exit::{Code, Failure};
use super::output::{self, Format};
use clap::{Args, ValueEnum};
use evenkeel::OPTIONS;
use evenkeel::settings::values::duration;
use evenkeel::settings::{SETTINGS, Settings, Sources};
use evenkeel_core::config::OptionKind;
use serde_json::json;
use std::future::Future;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// The global options.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Name servers, several with ; between [env: NAMESRV_ADDR, ROCKETMQ_NAMESRV_ADDR]
    #[arg(short = 'n', long, global = true, value_name = "ADDR[;ADDR…]", help_heading = "Cluster")]
    pub(crate) namesrv: Option<String>,
    /// Use the embedded in-memory broker
    #[arg(long, global = true, conflicts_with_all = ["no_embedded", "namesrv"], help_heading = "Cluster")]
    pub(crate) embedded: bool,
    /// Never use the embedded broker, even if no name server is given
    #[arg(long, global = true, help_heading = "Cluster")]
    pub(crate) no_embedded: bool,
    /// Variable with the access key [default: ROCKETMQ_ACCESS_KEY, ROCKETMQ_ACL_ACCESS_KEY]
    #[arg(long, global = true, value_name = "VARIABLE", help_heading = "Security")]
    access_key_env: Option<String>,
    /// File with the secret key [env: ROCKETMQ_SECRET_KEY, ROCKETMQ_ACL_SECRET_KEY have the key itself]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Security")]
    secret_key_file: Option<String>,
    /// Encrypt connections
    #[arg(long, global = true, help_heading = "Security")]
    tls: bool,
    /// PEM file with the certificates of the CAs to trust [default: those that the system trusts]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Security")]
    tls_ca: Option<String>,
    /// PEM file with our certificate, for servers that ask for one
    #[arg(long, global = true, value_name = "FILE", help_heading = "Security")]
    tls_cert: Option<String>,
    /// PEM file with the private key of our certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = "Security")]
    tls_key: Option<String>,
    /// Name that the certificate of every server must have [default: the host of its address]
    #[arg(long, global = true, value_name = "NAME", help_heading = "Security")]
    tls_server_name: Option<String>,
    /// Insecure: take any certificate of anybody
    #[arg(long, global = true, help_heading = "Security")]
    tls_insecure_skip_verify: bool,
    /// Config file [env: EVENKEEL_CONFIG]; else ./evenkeel.toml or $XDG_CONFIG_HOME/evenkeel/config.toml
    #[arg(short, long, global = true, value_name = "FILE", help_heading = "Settings")]
    pub(crate) config: Option<PathBuf>,
    /// Profile of the config file
    #[arg(short, long, global = true, value_name = "NAME", help_heading = "Settings")]
    pub(crate) profile: Option<String>,
    /// Any setting, by our or Java's name; `-X list` prints all
    #[arg(short = 'X', global = true, value_name = "KEY=VALUE", help_heading = "Settings")]
    pub(crate) set: Vec<String>,
    /// Give up after this time (exit code 124)
    #[arg(long, global = true, value_name = "TIME", value_parser = duration, help_heading = "Settings")]
    pub(crate) timeout: Option<Duration>,
    /// Form of the output
    #[arg(short, long, global = true, value_name = "FORMAT", help_heading = "Output")]
    output: Option<Format>,
    /// The same as -o json
    #[arg(long, global = true, conflicts_with = "output", help_heading = "Output")]
    json: bool,
    /// Say less: no banners, no closing line
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Log more: -v info, -vv debug, -vvv trace; else [env: EVENKEEL_LOG, RUST_LOG]
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub(crate) verbose: u8,
    /// Form of the log lines on stderr
    #[arg(long, global = true, value_name = "FORM", default_value = "compact", help_heading = "Output")]
    pub(crate) log_format: LogFormat,
    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Pretty,
    Compact,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl Global {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.output.unwrap_or(Format::Text) }
    }

    /// Whether to colour what goes to a stream that is a terminal or not.
    pub(crate) fn color(&self, terminal: bool) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }

    pub(crate) fn color_stdout(&self) -> bool {
        self.color(std::io::stdout().is_terminal())
    }

    /// Talk for people, on stderr.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    pub(crate) fn wants_option_list(&self) -> bool {
        self.set.iter().any(|set| set == "list")
    }

    /// What `-v` asks for.
    fn log_level(&self) -> Option<&'static str> {
        match self.verbose {
            0 => None,
            1 => Some("info"),
            2 => Some("debug"),
            _ => Some("trace"),
        }
    }

    /// All layers merged; `more` are settings of the subcommand's own flags.
    pub(crate) fn settings(&self, more: &[(&str, Option<&str>, &str)]) -> Result<Settings, Failure> {
        let mut sources = Sources::from_process();
        sources.config.clone_from(&self.config);
        sources.profile.clone_from(&self.profile);
        let access_key = self.access_key(&sources)?;
        let own = [
            ("cluster.name_servers", self.namesrv.as_deref(), "--namesrv"),
            ("cluster.access_key", access_key.as_deref(), "--access-key-env"),
            ("cluster.secret_key_file", self.secret_key_file.as_deref(), "--secret-key-file"),
            ("cluster.tls", self.tls.then_some("true"), "--tls"),
            ("cluster.tls_ca", self.tls_ca.as_deref(), "--tls-ca"),
            ("cluster.tls_cert", self.tls_cert.as_deref(), "--tls-cert"),
            ("cluster.tls_key", self.tls_key.as_deref(), "--tls-key"),
            ("cluster.tls_server_name", self.tls_server_name.as_deref(), "--tls-server-name"),
            (
                "cluster.tls_insecure_skip_verify",
                self.tls_insecure_skip_verify.then_some("true"),
                "--tls-insecure-skip-verify",
            ),
            ("log.filter", self.log_level(), "-v"),
        ];
        for (name, value, flag) in own.iter().chain(more) {
            if let Some(value) = value {
                sources.flags.push(((*name).to_owned(), (*value).to_owned(), (*flag).to_owned()));
            }
        }
        for set in &self.set {
            let (name, value) = set.split_once('=').ok_or_else(|| {
                Failure::usage(format!("-X {set}: not KEY=VALUE"))
                    .with_hint("`evenkeel -X list` prints all keys")
            })?;
            sources.flags.push((name.trim().to_owned(), value.trim().to_owned(), "-X".to_owned()));
        }
        Ok(Settings::load(&sources)?)
    }

    fn access_key(&self, sources: &Sources) -> Result<Option<String>, Failure> {
        let Some(variable) = &self.access_key_env else { return Ok(None) };
        match sources.environment.get(variable).filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(Some(text.clone())),
            None => Err(Failure::usage(format!("variable {variable} (--access-key-env) is not set"))
                .with_hint("it is the name of the variable that has the access key, not the key")),
        }
    }

    /// Runs a command for at most `--timeout`.
    pub(crate) async fn within_timeout(
        &self,
        command: impl Future<Output = Result<Code, Failure>>,
    ) -> Result<Code, Failure> {
        let Some(timeout) = self.timeout else { return command.await };
        let ended = tokio::time::timeout(timeout, command).await;
        ended.unwrap_or_else(|_| {
            Err(Failure::new(Code::TimedOut, format!("not done within {timeout:?} (--timeout)")))
        })
    }
}

/// `-X list`.
pub(crate) fn print_options(global: &Global) -> Result<Code, Failure> {
    let limits = evenkeel::Limits::default();
    let texts = SETTINGS
        .iter()
        .map(|row| (row.name.to_owned(), row.java, row.default.to_owned(), String::new(), row.meaning));
    let numbers = OPTIONS.iter().map(|row| {
        let unit = match row.kind {
            OptionKind::Millis => "ms",
            _ => "",
        };
        let range = match row.kind {
            OptionKind::Choice(words) => words.join(" | "),
            _ => format!("{}..={}", row.min, row.max),
        };
        let default = format!("{}{unit}", row.text(&limits));
        (format!("consumer.{}", row.name), row.java, default, range, row.meaning)
    });
    let rows: Vec<_> = texts.chain(numbers).collect();
    if global.format() == Format::Text || global.format() == Format::Wide {
        let head = ["SETTING", "JAVA", "DEFAULT", "RANGE", "MEANING"].map(str::to_owned);
        let rows = rows.into_iter().map(|(name, java, default, range, meaning)| {
            vec![name, java.to_owned(), default, range, meaning.to_owned()]
        });
        return output::table(global, &head, &rows.collect::<Vec<_>>()).map(|()| Code::Done);
    }
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, java, default, range, meaning)| {
            json!({"name": name, "java": java, "default": default, "range": range, "meaning": meaning})
        })
        .collect();
    output::rows(global, "evenkeel.settings/1", "settings", &rows).map(|()| Code::Done)
}
