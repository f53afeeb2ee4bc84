import { type BrowserWindow, dialog } from 'electron'
import { join } from 'node:path'
import { tidings } from '../preload/bridge.ts'
import type { Clock } from '../server/lib/clock.ts'
import type { City } from './desktop.ts'
import type { Journal } from './journal.ts'
import type { Place } from './links.ts'
import { createWindow } from './window.ts'

export interface FrontOptions {
  city: City
  preload: string
  resources: string
  place_file: string
  journal: Journal
  clock: Clock
  platform: NodeJS.Platform
  onClosed(): void
}

/** The one window: there, or made when it is wanted. */
export interface Front {
  show(): Promise<void>
  goTo(place: Place): Promise<void>
  /** Whether somebody is looking at it. */
  isInFront(): boolean
  tell(channel: string, ...words: unknown[]): void
  /** Of an upload of the page (0 to 1), or how many builds run; the bar shows the first that there is. */
  setProgress(change: Partial<Progress>): void
}

interface Progress {
  upload: number | null
  builds: number
}

/** A page that ends more often than this within a minute is not loaded a third time. */
const mayEnd = 1
const forgiven_ms = 60_000

export function createFront({ city, preload, resources, place_file, journal, clock, platform, onClosed }: FrontOptions): Front {
  const { origin } = new URL(city.api_url)
  // Elsewhere the system takes it from the app itself.
  const icon = platform === 'linux' ? join(resources, 'icon.png') : undefined
  let window: BrowserWindow | undefined
  let loading: Promise<void> | undefined
  let isLoaded = false
  let progress: Progress = { upload: null, builds: 0 }
  let ends: number[] = []

  async function show(): Promise<void> {
    if (window) {
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      await loading
      // The first page failed: another try instead of a window that stays empty.
      if (window && !isLoaded) loading = load(window)
      return loading
    }
    const { window: own, reveal } = createWindow({ origin, edge_url: city.edge_url, version: city.version, preload, icon, place_file, clock })
    window = own
    isLoaded = false
    own.on('closed', () => {
      window = undefined
      progress = { ...progress, upload: null }
      onClosed()
    })
    own.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (reason !== 'clean-exit') afterEnd(own, reason, exitCode)
    })
    drawProgress()
    loading = load(own).finally(reveal)
    return loading
  }

  async function load(own: BrowserWindow): Promise<void> {
    try {
      await own.loadURL(await city.signInUrl())
      isLoaded = true
    } catch (error) {
      journal.error('dashboard_not_opened', { error })
      dialog.showErrorBox(
        'The dashboard did not open',
        `${error instanceof Error ? error.message : String(error)}\nHomeport itself runs on; its window can be opened again, or the dashboard in a browser with: homeport open`,
      )
    }
  }

  function afterEnd(own: BrowserWindow, reason: string, exitCode: number): void {
    journal.error('page_gone', { reason, exitCode })
    ends = [...ends.filter((at) => at > Date.now() - forgiven_ms), Date.now()]
    if (own.isDestroyed()) return
    if (ends.length <= mayEnd) own.webContents.reload()
    else
      void own
        .loadURL(lastPage({ dashboard_url: city.dashboard_url, folder: journal.folder }))
        .catch((error: unknown) => journal.error('last_page_not_shown', { error }))
  }

  function drawProgress(): void {
    // Below 0 takes the bar away, over 1 shows one that moves without an end.
    window?.setProgressBar(progress.upload ?? (progress.builds > 0 ? 2 : -1))
  }

  return {
    show,
    async goTo({ path, word }) {
      await show()
      // The preload keeps it until the page listens.
      window?.webContents.send(tidings.navigate, path, word)
    },
    isInFront: () => window?.isFocused() ?? false,
    tell: (channel, ...words) => window?.webContents.send(channel, ...words),
    setProgress(change) {
      progress = { ...progress, ...change }
      drawProgress()
    },
  }
}

/** Where nothing else shows any more. It runs no script and speaks to nobody. */
function lastPage({ dashboard_url, folder }: { dashboard_url: string; folder: string }): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Homeport</title><body style="font: 16px/1.6 system-ui, sans-serif; max-width: 34em; margin: 15vh auto; padding: 0 1.5em">
<h1>The dashboard ended twice</h1>
<p>Homeport and your apps run on. <a href="${escaped(dashboard_url)}">Open the dashboard again</a>. If it ends again, quit Homeport from its menu and start it anew,
or use the dashboard in a browser: File, Open in Browser.</p>
<p>What happened is written in <code>${escaped(folder)}</code> (Help, Show Logs).</p>`
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`
}
