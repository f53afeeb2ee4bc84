/**
 * `npm start`: installs what is missing, builds what changed, and opens Homeport: the desktop window where Electron's binary and a
 * display can be had, else the same platform headless, with one sentence that says why. Arguments are those of `homeport serve`.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { become, buildChanged, endWithNpm, installMissing, nodeFlags, nodePath, root, say } from '../server/cli/prepare.mjs'
import { chooseSandbox } from './chromium-sandbox.mjs'
import { findElectron } from './electron-binary.mjs'

/** That the window may open without Chromium's sandbox. Lost with node_modules, as the mode of the sandbox's helper is. */
const choice_file = join(root, 'node_modules', '.homeport-no-sandbox')

try {
  endWithNpm()
  await installMissing()
  await buildChanged()
  // Found by its manifest: importing the package itself would begin a download.
  const folder = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  const { binary, reason } = await findElectron({ folder, node: nodePath(), say })
  const sandbox = chooseSandbox({ args: process.argv.slice(2), binary, choice_file })
  const runHeadless = (why) => {
    say(`Homeport runs without a window: ${why}`)
    // For the doctor.
    process.env.HOMEPORT_NO_WINDOW = why.replaceAll(/\s+/g, ' ')
    become(nodePath(), [...nodeFlags, join(root, 'server', 'cli', 'homeport.mjs'), 'serve', ...sandbox.args])
  }
  // Electron is no Node, and the package `node` may not be there.
  process.env.HOMEPORT_NODE = nodePath()
  if (!binary) runHeadless(reason)
  else if (sandbox.reason) runHeadless(sandbox.reason)
  else
    become(
      binary,
      [...sandbox.flags, root, ...sandbox.args],
      (why) => runHeadless(`Electron ended at once (${why}; what it said is above).`),
      process.platform === 'win32',
    )
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
