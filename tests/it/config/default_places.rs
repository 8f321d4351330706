//! The third place of the default names, which agents and hosts with these names share: it is a place like the others.

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, HookConfig, Hooks};

use super::{FORGE, OPENCODE, commands, config, file_of, load};
use crate::support::{World, blocking_event, hook};

const SHARED: &str = "config/forge-hooks/hooks.json";
const IN_PROJECT: &str = "project/.forge-hooks/hooks.json";

#[test]
fn it_is_read_after_the_other_places() {
    let world = World::new();
    world.write(SHARED, &file_of(&["3"]));
    world.write(OPENCODE, &file_of(&["2"]));
    world.write(FORGE, &file_of(&["1"]));
    world.write(IN_PROJECT, &file_of(&["6"]));
    world.write("project/.src/opencode/hooks.json", &file_of(&["5"]));
    world.write("project/.src/forge/hooks.json", &file_of(&["4"]));
    let all = config(&world).load_all(world.path("project"));
    assert_eq!(commands(&all), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(load(&world).files.len(), 6);
    // A host with a name of its own does not read it.
    let game = HookConfig::new(AppProfile::new("mygame")).with_config_home(world.path("config"));
    assert_eq!(game.load_all(world.path("project")).len(), 0);
}

#[test]
fn without_a_file_a_save_goes_to_the_first_place() {
    let world = World::new();
    let project = world.path("project");
    let ours = config(&world);
    let in_project = project.join(".src/forge/hooks.json");
    assert_eq!(ours.global_path(), Some(world.path(FORGE)));
    assert_eq!(ours.project_path(&project), Some(in_project.clone()));
    ours.save_global([hook("*", "1")]).unwrap();
    ours.save_project(&project, [hook("*", "1")]).unwrap();
    assert!(world.path(FORGE).exists() && in_project.exists());
}

#[test]
fn a_save_goes_where_a_file_is() {
    let world = World::new();
    let project = world.path("project");
    let ours = config(&world);
    let shared = world.write(SHARED, &file_of(&[]));
    let in_project = world.write(IN_PROJECT, &file_of(&[]));
    assert_eq!(ours.global_path(), Some(shared));
    assert_eq!(ours.project_path(&project), Some(in_project));
    ours.save_global([hook("*", "2")]).unwrap();
    ours.save_project(&project, [hook("*", "3")]).unwrap();
    assert!(!world.path(FORGE).exists());
    assert_eq!(commands(&ours.load_all(&project)), ["2", "3"]);

    world.write(OPENCODE, &file_of(&[]));
    let error = ours.save_global([hook("*", "5")]).unwrap_err();
    assert!(error.to_string().starts_with("several hooks files exist ("));
}

#[test]
fn the_store_of_approvals_stays() {
    let world = World::new();
    world.write(SHARED, &file_of(&[]));
    let store = config(&world).trust_store().unwrap();
    let store = format!("{store:?}").replace(r"\\", "/");
    assert!(store.contains("config/src/forge/trust.json"), "{store}");
}

#[cfg_attr(
    windows,
    ignore = "a command is not one of `sh`, whose scripts are known"
)]
#[test]
fn its_hooks_are_checked_and_approved() {
    let world = World::new();
    let path = world.write(IN_PROJECT, &file_of(&["sh ./guard.sh"]));
    let ours = config(&world);
    // A script is only looked for in the project of a file of its own.
    let report = ours.check(&path);
    assert!(report.to_string().contains("guard.sh"), "{report}");
    world.write("project/guard.sh", "echo guarded");
    assert_eq!(ours.check(&path).to_string(), "");

    let root = world.path("project");
    let load = || {
        world.registry().clear();
        let policy = TrustPolicy::Approved(ours.trust_store().unwrap());
        let _ = ours.load_into(world.registry(), &root, policy);
        world.registry().len()
    };
    assert_eq!(load(), 0);
    let approval = Approval::of(&root, ours.load_project(&root)).unwrap();
    ours.trust_store().unwrap().approve(&approval).unwrap();
    assert_eq!(load(), 1);
    assert!(world.outcome(&blocking_event()).allowed());
    // A lost approval blocks.
    world.write("project/guard.sh", "true");
    load();
    assert!(!world.outcome(&blocking_event()).allowed());
}

#[test]
fn the_project_is_found_by_it_and_it_decides() {
    let world = World::new();
    std::fs::create_dir_all(world.path("project/.git")).unwrap();
    std::fs::create_dir_all(world.path("project/part/below")).unwrap();
    world.write("project/part/.forge-hooks/hooks.json", &file_of(&["1"]));
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(world.path("config"))
        .discover_project(world.path("project/part/below"))
        .load();
    let root = hooks.project().unwrap();
    assert!(root.ends_with("part"), "{root:?}");
    for path in [
        root.join(".forge-hooks/hooks.json"),
        root.join(".forge-hooks/hooks.d/x.json"),
        root.join(".forge-hooks"),
        world.path(SHARED),
    ] {
        assert!(hooks.decides(&path), "{}", path.display());
    }
    assert!(!hooks.decides(root.join(".forge-hooks2/hooks.json")));
}
