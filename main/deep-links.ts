import { app } from 'electron'

const scheme = 'homeport'

/** A page of the dashboard, with an optional message to show there. */
export interface DashboardLocation {
  path: string
  message: string | null
}

/** A slug as defined by the contract, and the pages of a project. */
const projectPathPattern =
  /^projects\/[a-z0-9][a-z0-9-]{1,48}[a-z0-9](?:\/(?:deployments(?:\/[A-Za-z0-9_]{1,40})?|previews|logs|metrics|cache|environment|database|domains|settings))?$/
const otherPathPattern = /^(?:projects|domains|account|instances|instance(?:\/(?:network|disk|backups|desktop))?|help(?:\/[a-z0-9-]{1,60})?)?$/
const maxLinkLength = 200

/**
 * Parses a `homeport://` link. Any web page or email may contain one, so a link can only name a known page of the dashboard: it cannot open a URL,
 * sign in or run a command. Unknown links lead to the project list.
 */
export function parseDeepLink(link: string): DashboardLocation {
  const [, rawPath] = /^homeport:\/\/([\w/-]*)$/.exec(link.length > maxLinkLength ? '' : link) ?? []
  const path = rawPath?.replace(/\/$/, '')
  if (path !== undefined && (projectPathPattern.test(path) || otherPathPattern.test(path))) return { path: `/${path}`, message: null }
  return { path: '/projects', message: 'This link does not match any page in Homeport. Showing your projects instead.' }
}

/** The deep link in the arguments of a start on Windows and Linux; undefined if there is none. */
export function findDeepLink(argv: readonly string[]): string | undefined {
  return argv.findLast((argument) => argument.toLowerCase().startsWith(`${scheme}:`))
}

/**
 * Registers Homeport for `homeport://` links. In a checkout, the registration must include the app that Electron runs, which macOS does not support.
 * Arguments after `--` are not parsed as options by Chromium or Homeport, whatever the link contains.
 */
export function registerProtocolClient(platform: NodeJS.Platform): boolean {
  if (!app.isPackaged && platform === 'darwin') return false
  if (app.isPackaged)
    return platform === 'win32' ? app.setAsDefaultProtocolClient(scheme, process.execPath, ['--']) : app.setAsDefaultProtocolClient(scheme)
  return app.setAsDefaultProtocolClient(scheme, process.execPath, [app.getAppPath(), '--'])
}
