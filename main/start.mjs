/**
 * `npm start`: installs missing dependencies, builds what changed, and opens Homeport: the desktop window if Electron's binary and a display are
 * available, otherwise the same platform headless, with a message that says why. Accepts the arguments of `homeport serve`.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { become, buildChanged, endWithNpm, installMissing, nodeFlags, nodePath, root, say } from '../server/cli/prepare.mjs'
import { chooseSandbox } from './chromium-sandbox.mjs'
import { findElectron } from './electron-binary.mjs'

/** Marks that the window may open without Chromium's sandbox. Removed with node_modules, like the mode of the sandbox helper. */
const choice_file = join(root, 'node_modules', '.homeport-no-sandbox')

try {
  endWithNpm()
  await installMissing()
  await buildChanged()
  // Located by its manifest, because importing the package would start a download.
  const folder = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  const { binary, reason } = await findElectron({ folder, node: nodePath(), say })
  const sandbox = chooseSandbox({ args: process.argv.slice(2), binary, choice_file })
  const runHeadless = (why) => {
    say(`Homeport runs without a window: ${why}`)
    // The doctor reports this variable.
    process.env.HOMEPORT_NO_WINDOW = why.replaceAll(/\s+/g, ' ')
    become(nodePath(), [...nodeFlags, join(root, 'server', 'cli', 'homeport.mjs'), 'serve', ...sandbox.args])
  }
  // Electron is not Node, and the package `node` may be missing.
  process.env.HOMEPORT_NODE = nodePath()
  if (!binary) runHeadless(reason)
  else if (sandbox.reason) runHeadless(sandbox.reason)
  else
    become(
      binary,
      [...sandbox.flags, root, ...sandbox.args],
      (why) => runHeadless(`Electron exited immediately (${why}; see its output above).`),
      process.platform === 'win32',
    )
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
