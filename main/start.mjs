/**
 * `npm start`: installs what is missing, builds what changed, and opens Homeport: the desktop window where Electron's binary and a
 * display can be had, else the same platform headless, with one sentence that says why. Arguments are those of `homeport serve`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { become, buildChanged, endWithNpm, installMissing, nodeFlags, nodePath, root, say } from '../server/cli/prepare.mjs'
import { sandboxFix } from './chromium-sandbox.mjs'
import { electronBinary } from './electron-binary.mjs'

/** That the window may open without Chromium's sandbox. Lost with node_modules, as the mode of the sandbox's helper is. */
const choiceFile = join(root, 'node_modules', '.homeport-no-sandbox')

try {
  endWithNpm()
  await installMissing()
  await buildChanged()
  const { binary, reason } = await findElectron()
  const args = process.argv.slice(2).filter((arg) => arg !== '--no-sandbox' && arg !== '--sandbox')
  if (process.argv.includes('--no-sandbox')) writeFileSync(choiceFile, '')
  if (process.argv.includes('--sandbox')) rmSync(choiceFile, { force: true })
  const runHeadless = (why) => {
    say(`Homeport runs without a window: ${why}`)
    become(nodePath(), [...nodeFlags, join(root, 'server', 'cli', 'homeport.mjs'), 'serve', ...args])
  }
  // Chromium's sandbox refuses to work for root; the window shows our own pages only.
  const isWithout = (process.platform === 'linux' && process.getuid?.() === 0) || existsSync(choiceFile)
  const fix = binary && !isWithout ? sandboxFix(binary) : undefined
  if (!binary) runHeadless(reason)
  else if (fix)
    runHeadless(
      `This system does not let Chromium’s sandbox start. Allow it with\n  ${fix}\nor open the window without it, once and from then on, with\n  npm start -- --no-sandbox`,
    )
  else
    become(
      binary,
      [...(isWithout ? ['--no-sandbox'] : []), root, ...args],
      (why) => runHeadless(`Electron ended at once (${why}; what it said is above).`),
      process.platform === 'win32',
    )
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** The binary of Electron, or the reason why there can be no window. */
async function findElectron() {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return { reason: 'this machine has no display.' }
  const here = electronBinary(packageFolder())
  if (here) return { binary: here }

  const { version } = createRequire(import.meta.url)('electron/package.json')
  const host = process.env.ELECTRON_MIRROR ?? process.env.npm_config_electron_mirror ?? 'https://github.com/electron/electron/releases/download/'
  const reachable = await fetch(`${host}v${version}/SHASUMS256.txt`, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  }).then(
    (answer) => answer.status < 400,
    () => false,
  )
  if (!reachable) return { reason: `Electron’s binary is not here and ${new URL(host).host} does not answer.` }

  say('Fetching Electron’s binary (about 120 MB, once); a slow download shows its progress after 30 s.')
  const fetchOnce = () => spawnSync(nodePath(), [join(packageFolder(), 'install.js')], { cwd: root, stdio: ['ignore', 2, 2], timeout: 30 * 60_000 })
  if (fetchOnce().status !== 0 && fetchOnce().status !== 0)
    return { reason: 'Electron’s binary could not be fetched (see above). The next start tries again.' }
  const binary = electronBinary(packageFolder())
  return binary ? { binary } : { reason: 'Electron’s binary was fetched, but is not complete. Run npx install-electron.' }
}

/** Found by its manifest: importing the package itself would begin a download. */
function packageFolder() {
  return dirname(createRequire(import.meta.url).resolve('electron/package.json'))
}
