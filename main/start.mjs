/**
 * `npm start`: installs what is missing, builds what changed, and opens Homeport: the desktop window where Electron's binary and a
 * display can be had, else the same platform headless, with one sentence that says why. Arguments are those of `homeport serve`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { become, buildChanged, endWithNpm, installMissing, nodeFlags, nodePath, root, say } from '../server/cli/prepare.mjs'

try {
  endWithNpm()
  await installMissing()
  await buildChanged()
  const { binary, reason } = await findElectron()
  const args = process.argv.slice(2)
  const runHeadless = (why) => {
    say(`Homeport runs without a window: ${why}`)
    become(nodePath(), [...nodeFlags, join(root, 'server', 'cli', 'homeport.mjs'), 'serve', ...args])
  }
  if (!binary) runHeadless(reason)
  else {
    // Chromium's sandbox refuses to work for root; the window shows our own pages only.
    const asRoot = process.platform === 'linux' && process.getuid?.() === 0
    become(binary, [...(asRoot ? ['--no-sandbox'] : []), root, ...args], (why) =>
      runHeadless(`Electron ended at once (${why}; what it said is above).`),
    )
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** The binary of Electron, or the reason why there can be no window. */
async function findElectron() {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return { reason: 'this machine has no display.' }
  const here = electronBinary()
  if (here) return { binary: here }

  const { version } = createRequire(import.meta.url)('electron/package.json')
  const host = process.env.ELECTRON_MIRROR ?? process.env.npm_config_electron_mirror ?? 'https://github.com/electron/electron/releases/download/'
  const reachable = await fetch(`${host}v${version}/SHASUMS256.txt`, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(2_500) }).then(
    (answer) => answer.status < 400,
    () => false,
  )
  if (!reachable) return { reason: `Electron’s binary is not here and ${new URL(host).host} does not answer.` }

  say('Fetching Electron’s binary (about 120 MB, once).')
  const fetched = spawnSync(nodePath(), [join(packageFolder(), 'install.js')], { cwd: root, stdio: ['ignore', 2, 2], timeout: 10 * 60_000 })
  const binary = electronBinary()
  return fetched.status === 0 && binary ? { binary } : { reason: 'Electron’s binary could not be fetched (see above).' }
}

function electronBinary() {
  const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH || join(packageFolder(), 'dist')
  return ['electron', 'electron.exe', 'Electron.app/Contents/MacOS/Electron'].map((name) => join(folder, name)).find((path) => existsSync(path))
}

/** Found by its manifest: importing the package itself would begin a download. */
function packageFolder() {
  return dirname(createRequire(import.meta.url).resolve('electron/package.json'))
}
