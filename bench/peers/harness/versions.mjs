// The exact versions of everything measured.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const programs = {
  redis: () => execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)[1],
  beanstalkd: () => execFileSync('beanstalkd', ['-v'], { encoding: 'utf8' }).trim().split(' ').pop(),
};

function packageVersion(name) {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

export function versions(runner, place) {
  const found = { ...place.serverVersion, ...runner.extraVersions };
  for (const name of runner.packages) found[name] = packageVersion(name);
  if (programs[runner.store]) found[runner.store] = programs[runner.store]();
  found.node = process.version;
  return found;
}
