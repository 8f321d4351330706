#!/usr/bin/env node
// Starts the program of this system, for a shell. `forge-hooks install` registers the program itself, and never this file.
"use strict";

const { spawn } = require("child_process");

const system = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "forge-hooks.exe" : "forge-hooks";

let program;
try {
  program = require.resolve(`@forge-hooks/${system}/bin/${file}`);
} catch {
  console.error(
    `forge-hooks: the package @forge-hooks/${system} is missing: install forge-hooks again without \`--omit=optional\`, ` +
      "or, if your system has no package, build it with cargo",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to the program too.
const signals = { SIGINT: () => {}, SIGTERM: () => child.kill("SIGTERM"), SIGHUP: () => child.kill("SIGHUP") };
for (const [signal, react] of Object.entries(signals)) process.on(signal, react);
child.on("error", (error) => {
  console.error(`forge-hooks: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  for (const [known, react] of Object.entries(signals)) process.off(known, react);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code);
});
