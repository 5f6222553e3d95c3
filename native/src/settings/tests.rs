use super::*;

struct Config(PathBuf);

impl Config {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evenkeel-settings-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const FILE: &str = r#"
[cluster]
name_servers = ["mq-1:9876", "mq-2:9876"]
[consumer]
group = "pay-worker"
drain_timeout = "30s"
pullBatchSize = 16
[[consumer.subscribe]]
topic = "orders"
tag = "paid || refunded"
[profile.staging.cluster]
name_servers = ["mq-staging:9876"]
"#;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn error(sources: &Sources) -> String {
    Settings::load(sources).unwrap_err().to_string()
}

#[test]
fn later_layers_win_and_every_value_knows_its_layer() {
    let file = Config::new("layers", FILE);
    let mut sources = Sources { config: Some(file.0.clone()), ..Sources::default() };
    let settings = Settings::load(&sources).unwrap();
    assert_eq!(settings.text("cluster.name_servers"), Some("mq-1:9876;mq-2:9876"));
    assert_eq!(settings.text("pull_batch"), Some("16"));
    assert_eq!(settings.subscriptions()[0].tag.as_deref(), Some("paid || refunded"));

    sources.profile = Some("staging".into());
    let settings = Settings::load(&sources).unwrap();
    let value = settings.value("cluster.name_servers").unwrap();
    assert_eq!(
        (value.text.as_str(), value.origin.to_string().contains("profile staging")),
        ("mq-staging:9876", true)
    );

    sources.environment = environment(&[
        ("NAMESRV_ADDR", "mq-env:9876"),
        ("ROCKETMQ_NAMESRV_ADDR", "other:9876"),
        ("EVENKEEL__CONSUMER__DRAIN_TIMEOUT", "60s"),
    ]);
    let settings = Settings::load(&sources).unwrap();
    assert_eq!(settings.text("cluster.name_servers"), Some("mq-env:9876"));
    assert_eq!(
        settings.value("drain_timeout").unwrap().origin.to_string(),
        "environment EVENKEEL__CONSUMER__DRAIN_TIMEOUT"
    );

    sources.flags = vec![("persistConsumerOffsetInterval".into(), "250".into(), "-X".into())];
    let settings = Settings::load(&sources).unwrap();
    let value = settings.value("commit_interval").unwrap();
    assert_eq!((value.text.as_str(), value.origin.to_string()), ("250", "flag -X".to_owned()));
}

#[test]
fn unknown_names_are_refused_in_every_layer_with_the_nearest() {
    let file = Config::new("unknown", "[consumer]\ndrain_timeot = \"1s\"\n");
    let from_file = error(&Sources { config: Some(file.0.clone()), ..Sources::default() });
    assert!(from_file.contains("drain_timeout") && from_file.contains("file "), "{from_file}");
    let environment = environment(&[("EVENKEEL__CONSUMER__GRUOP", "g")]);
    let from_environment = error(&Sources { environment, ..Sources::default() });
    assert!(from_environment.contains("EVENKEEL__CONSUMER__GRUOP"), "{from_environment}");
    let flags = vec![("enableBackPressure".into(), "true".into(), "-X".into())];
    assert!(error(&Sources { flags, ..Sources::default() }).contains("there is no setting"));
}

#[test]
fn wrong_files_and_profiles_say_what_is_wrong() {
    let file = Config::new("wrong", "[consumer\n");
    assert!(error(&Sources { config: Some(file.0.clone()), ..Sources::default() }).contains("line 1"));
    let file = Config::new("profile", FILE);
    let sources =
        Sources { config: Some(file.0.clone()), profile: Some("prod".into()), ..Sources::default() };
    assert!(error(&sources).contains("it has: staging"));
    let sources = Sources { config: Some("no-such-file.toml".into()), ..Sources::default() };
    assert!(error(&sources).contains("does not exist"));
    let file = Config::new("section", "[consumers]\n");
    assert!(error(&Sources { config: Some(file.0.clone()), ..Sources::default() }).contains("no section"));
}

#[test]
fn values_are_checked_where_they_are_written() {
    let flags = vec![("pull_batch".into(), "5000".into(), "-X".into())];
    let text = error(&Sources { flags, ..Sources::default() });
    assert!(text.contains("1..=1024") && text.contains("flag -X"), "{text}");
}

#[test]
fn a_truth_value_is_for_switches() {
    let file = Config::new("switch", "[consumer]\nexclusive_handover = true\n");
    let settings = Settings::load(&Sources { config: Some(file.0.clone()), ..Sources::default() }).unwrap();
    assert_eq!(settings.text("exclusive_handover"), Some("true"));
    for wrong in ["pull_batch = true", "exclusive_handover = 1", "exclusive_handover = \"yes\""] {
        let file = Config::new("no-switch", &format!("[consumer]\n{wrong}\n"));
        let error = error(&Sources { config: Some(file.0.clone()), ..Sources::default() });
        assert!(error.contains(wrong.split(' ').next().unwrap()), "{error}");
    }
}

/// Whatever name it is set by, a setting has a text that its own name takes.
#[test]
fn choices_under_javas_names_are_kept_in_our_words() {
    for (name, text, ours, kept) in [
        ("clientRebalance", "false", "rebalance", "broker"),
        ("clientRebalance", "true", "rebalance", "client"),
        ("unitMode", "true", "unit_mode", "true"),
        ("consumer.unitMode", "false", "unit_mode", "false"),
    ] {
        let flags = vec![(name.to_owned(), text.to_owned(), "-X".to_owned())];
        let settings = Settings::load(&Sources { flags, ..Sources::default() }).unwrap();
        assert_eq!(settings.text(ours), Some(kept), "{name}={text}");
        assert!(values::option_value(ours, kept).is_ok(), "{name}={text}");
    }
}

#[test]
fn a_namespace_of_requests_may_stand_in_every_layer() {
    let here: &[(&str, &str)] = &[("namespace_v2", "tenant")];
    let none: &[(&str, &str)] = &[];
    for layers in [
        [here, none, none, none],
        [none, here, none, none],
        [none, none, here, none],
        [none, none, none, here],
    ] {
        let settings = cluster("namespace-v2", layers);
        assert_eq!((settings.namespace_v2(), settings.namespace()), ("tenant", ""));
        assert!(format!("{:?}", settings.security().unwrap()).contains("tenant"));
    }
}

/// Settings with this in the `[cluster]` of the config file, in that of its profile, in the environment and as flags.
fn cluster(name: &str, layers: [&[(&str, &str)]; 4]) -> Settings {
    let [file, profile, variables, flags] = layers;
    let lines = |pairs: &[(&str, &str)]| -> String {
        pairs.iter().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect()
    };
    let (file, profile) = (lines(file), lines(profile));
    let file = Config::new(name, &format!("[cluster]\n{file}[profile.near.cluster]\n{profile}"));
    let variables: Vec<(String, &str)> = variables
        .iter()
        .map(|(name, value)| (format!("EVENKEEL__CLUSTER__{}", name.to_ascii_uppercase()), *value))
        .collect();
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let flag = |(name, value): &(&str, &str)| {
        (format!("cluster.{name}"), (*value).to_owned(), format!("--{}", name.replace('_', "-")))
    };
    let sources = Sources {
        config: Some(file.0.clone()),
        profile: Some("near".to_owned()),
        environment: environment(&variables),
        flags: flags.iter().map(flag).collect(),
    };
    Settings::load(&sources).unwrap()
}

const OFF: &[(&str, &str)] = &[("tls", "false")];

#[test]
fn tls_that_a_lower_layer_switches_off_is_a_mistake() {
    let certificate = [("tls_cert", "a.pem"), ("tls_key", "a.key")];
    for (layers, off, set) in [
        ([OFF, &[], &[], &[("tls_ca", "ca.pem")]], "file ", "cluster.tls_ca is set (flag --tls-ca)"),
        ([&[], OFF, &[], &certificate], "profile near", "cluster.tls_cert is set (flag --tls-cert)"),
        (
            [&[], &[], OFF, &[("tls_insecure_skip_verify", "true")]],
            "environment EVENKEEL__CLUSTER__TLS",
            "cluster.tls_insecure_skip_verify is set (flag --tls-insecure-skip-verify)",
        ),
        ([OFF, &[("tls_server_name", "mq")], &[], &[]], "file ", "cluster.tls_server_name is set (profile"),
        ([OFF, &[], &[("tls_ca", "ca.pem")], &[]], "file ", "cluster.tls_ca is set (environment"),
        // One in the same layer does not hide another above it.
        ([&[("tls", "false"), ("tls_ca", "a.pem")], &[], &[], &certificate], "file ", "(flag --tls-cert)"),
    ] {
        let error = cluster("tls-off-below", layers).security().unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), crate::error::ErrorKind::Config, "{text}");
        assert!(text.contains(set) && text.contains(&format!("cluster.tls is false ({off}")), "{text}");
        assert!(error.hint().is_some_and(|hint| hint.contains("--tls")), "{error}");
    }
}

#[test]
fn tls_can_be_switched_off_beside_and_above_what_it_would_need() {
    let beside: &[(&str, &str)] = &[("tls", "false"), ("tls_ca", "no-such-file")];
    let ca: &[(&str, &str)] = &[("tls_ca", "no-such-file")];
    for layers in [
        [beside, &[], &[], &[]],
        [ca, &[], &[], OFF],
        [ca, &[], OFF, &[]],
        [ca, OFF, &[], &[]],
        // Nothing is asked for here.
        [OFF, &[], &[], &[("tls_insecure_skip_verify", "false")]],
    ] {
        // With TLS the file would be missed, or the build could not do it.
        assert!(cluster("tls-off", layers).security().is_ok(), "{layers:?}");
    }
    let on = cluster("tls-on", [OFF, &[], &[], &[("tls_ca", "no-such-file"), ("tls", "true")]]);
    assert!(on.security().is_err(), "the flag wins");
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_build_without_tls_says_so() {
    for flag in [
        "tls=true",
        "tls_ca=a",
        "tls_cert=a",
        "tls_key=a",
        "tls_server_name=a",
        "tls_insecure_skip_verify=true",
    ] {
        let flags = [flag.split_once('=').unwrap()];
        let error = cluster("no-tls", [&[], &[], &[], &flags]).security().unwrap_err();
        assert!(error.to_string().contains("this build has no TLS"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("feature")), "{error}");
    }
}
