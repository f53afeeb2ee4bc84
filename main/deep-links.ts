import { app } from 'electron'

const scheme = 'homeport'

/** A place in the dashboard, and a word to say there. */
export interface DashboardLocation {
  path: string
  message: string | null
}

/** A slug as the contract has it, and the pages below it. */
const projectPathPattern =
  /^projects\/[a-z0-9][a-z0-9-]{1,48}[a-z0-9](?:\/(?:deployments(?:\/[A-Za-z0-9_]{1,40})?|previews|logs|metrics|cache|environment|database|domains|settings))?$/
const otherPathPattern = /^(?:projects|domains|account|instances|instance(?:\/(?:network|disk|backups|desktop))?|help(?:\/[a-z0-9-]{1,60})?)?$/
const maxLinkLength = 200

/**
 * Where a `homeport://` link leads. Anybody may write one, into any page or letter: it names a place of the dashboard and nothing
 * else, and is no address that is opened, no sign-in and no command. Whatever is not known by heart leads to the projects.
 */
export function parseDeepLink(link: string): DashboardLocation {
  const [, rawPath] = /^homeport:\/\/([\w/-]*)$/.exec(link.length > maxLinkLength ? '' : link) ?? []
  const path = rawPath?.replace(/\/$/, '')
  if (path !== undefined && (projectPathPattern.test(path) || otherPathPattern.test(path))) return { path: `/${path}`, message: null }
  return { path: '/projects', message: 'That link leads to no place that Homeport knows. Here are your projects.' }
}

/** The link in the arguments of a start, as Windows and Linux hand it over; undefined when there is none. */
export function findDeepLink(argv: readonly string[]): string | undefined {
  return argv.findLast((argument) => argument.toLowerCase().startsWith(`${scheme}:`))
}

/**
 * Tells the system that such links are ours. From a checkout the system has to be told what Electron is to run, which macOS cannot be: a
 * link would open Electron with nothing to run. After `--` nothing is taken for an option, neither by Chromium nor by us, whatever a
 * link has in it.
 */
export function registerProtocolClient(platform: NodeJS.Platform): boolean {
  if (!app.isPackaged && platform === 'darwin') return false
  if (app.isPackaged)
    return platform === 'win32' ? app.setAsDefaultProtocolClient(scheme, process.execPath, ['--']) : app.setAsDefaultProtocolClient(scheme)
  return app.setAsDefaultProtocolClient(scheme, process.execPath, [app.getAppPath(), '--'])
}
