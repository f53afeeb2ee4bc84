/** Finds and downloads Electron's binary for `npm start`. Plain JavaScript, because it runs before anything is built. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How long the release host may take to respond. A first connection through a proxy takes seconds. */
const patience_ms = 10_000

/**
 * Electron's binary in the folder of its package; undefined if it is missing or incomplete. A complete installation is recognized as in
 * electron/install.js, by `dist/version` and by `path.txt`, which is written last.
 */
export function electronBinary(folder, env = process.env) {
  const names = ['electron', 'electron.exe', 'Electron.app/Contents/MacOS/Electron']
  const override = env.ELECTRON_OVERRIDE_DIST_PATH
  if (override) return names.map((name) => join(override, name)).find((path) => existsSync(path))
  try {
    const installed = readFileSync(join(folder, 'dist', 'version'), 'utf8')
      .trim()
      .replace(/^v/, '')
    if (installed !== versionOf(folder)) return undefined
    const binary = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}

/** Electron's binary, downloaded by Electron's own script if necessary, or the reason why there is no window. */
export async function findElectron({ folder, node, say, env = process.env, platform = process.platform }) {
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return { reason: 'this machine has no display.' }
  const here = electronBinary(folder, env)
  if (here) return { binary: here }

  const host = env.ELECTRON_MIRROR ?? env.npm_config_electron_mirror ?? 'https://github.com/electron/electron/releases/download/'
  const reachable = await fetch(`${host}v${versionOf(folder)}/SHASUMS256.txt`, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(patience_ms),
  }).then(
    (answer) => answer.status < 400,
    () => false,
  )
  if (!reachable) return { reason: `Electron’s binary is missing and ${new URL(host).host} does not respond.` }

  say('Downloading Electron (about 120 MB, only once). A slow download shows its progress after 30 s.')
  const fetchOnce = () => spawnSync(node, [join(folder, 'install.js')], { cwd: folder, env, stdio: ['ignore', 2, 2], timeout: 30 * 60_000 })
  if (fetchOnce().status !== 0 && fetchOnce().status !== 0)
    return { reason: 'Electron could not be downloaded (see above). The next start tries again.' }
  const binary = electronBinary(folder, env)
  return binary ? { binary } : { reason: 'Electron was downloaded, but is incomplete. Run npx install-electron.' }
}

const versionOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
