import type { BrowserContext, Page } from '@playwright/test'
import type { Bridge, DesktopState } from '../../preload/bridge.ts'

type Call = { [Verb in keyof Bridge]: Bridge[Verb] extends (...given: infer Given) => unknown ? { verb: Verb; given: Given } : never }[keyof Bridge]

/** The desktop's side of the bridge, for pages in a browser: the calls that it received, and ways to send events to pages. */
export interface FakeBridge {
  /** In the order of arrival, across pages and reloads. */
  calls: Call[]
  /** The arguments of each call of a function. */
  argumentsOf<Verb extends Call['verb']>(verb: Verb): Extract<Call, { verb: Verb }>['given'][]
  /** The next results of the folder dialog; null, a dismissed dialog, when none are left. */
  folders: (string | null)[]
  /** The state of the desktop; `changeDesktopState` sends it to an open page. */
  desktop_state: DesktopState
  changeDesktopState(page: Page, change: Partial<DesktopState>): Promise<void>
  /** Navigates like a menu or a notification. */
  navigate(page: Page, path: string, word?: string): Promise<void>
}

declare global {
  interface Window {
    callDesktop: (verb: string, given: unknown[]) => Promise<unknown>
    emitNavigate: (path: string, word: string | null) => void
    emitDesktopState: (state: DesktopState) => void
  }
}

/** Every page of the context then has `window.homeport`, as in the desktop window. */
export async function installFakeBridge(context: Pick<BrowserContext, 'exposeFunction' | 'addInitScript'>): Promise<FakeBridge> {
  const desktop: DesktopState = {
    opens_at_login: false,
    keeps_running: true,
    notifies: true,
    downloads_updates: true,
    update: { name: 'idle', checked_at: null },
  }
  const fakeBridge: FakeBridge = {
    calls: [],
    folders: [],
    desktop_state: desktop,
    async changeDesktopState(page, change) {
      await page.evaluate((state) => window.emitDesktopState(state), Object.assign(desktop, change))
    },
    argumentsOf: (verb) => fakeBridge.calls.flatMap((call) => (call.verb === verb ? [call.given] : [])) as never,
    async navigate(page, path, message) {
      await page.evaluate(([to, message]) => window.emitNavigate(to, message), [path, message ?? null] as const)
    },
  }
  await context.exposeFunction('callDesktop', (verb: Call['verb'], given: unknown[]) => {
    fakeBridge.calls.push({ verb, given } as Call)
    if (verb === 'chooseFolder') return fakeBridge.folders.shift() ?? null
    if (verb === 'openExternal') return true
    if (verb === 'readDesktop') return desktop
    if (verb === 'changeDesktop') return Object.assign(desktop, given[0])
    return null
  })
  await context.addInitScript(() => {
    const call = <Verb extends keyof Bridge>(verb: Verb) =>
      ((...given: unknown[]) => window.callDesktop(verb, given)) as Bridge[Verb] & ((...given: never[]) => Promise<never>)
    const listeners = new Set<Parameters<Bridge['onNavigate']>[0]>()
    window.emitNavigate = (path, message) => {
      for (const listener of listeners) listener(path, message)
    }
    const stateListeners = new Set<(state: DesktopState) => void>()
    window.emitDesktopState = (state) => {
      for (const stateListener of stateListeners) stateListener(state)
    }
    window.homeport = {
      platform: 'linux',
      version: '1.2.3',
      // Files created by a test have no path.
      getPathForFile: () => null,
      chooseFolder: call('chooseFolder'),
      openExternal: call('openExternal'),
      notify: call('notify'),
      setProgress: call('setProgress'),
      readDesktop: call('readDesktop'),
      changeDesktop: call('changeDesktop'),
      updateDesktop: call('updateDesktop'),
      showLogs: call('showLogs'),
      onDesktopState(stateListener) {
        stateListeners.add(stateListener)
        return () => void stateListeners.delete(stateListener)
      },
      onNavigate(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    } satisfies Bridge
  })
  return fakeBridge
}
