/**
 * Entry point of `npm test` and the related scripts, on any Node from 20.19: installs what is missing, then starts `runner/main.ts` on our
 * own Node. See test/README.md.
 */
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { installMissing, nodePath, root } from '../server/cli/prepare.mjs'

try {
  await installMissing()
} catch (error) {
  console.error(error.message)
  console.log('0 passed, 1 failed, 0 skipped')
  process.exit(1)
}
const { status, signal } = spawnSync(nodePath(), [join(root, 'test/runner/main.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}` },
})
if (signal) process.kill(process.pid, signal)
process.exitCode = status ?? 1
