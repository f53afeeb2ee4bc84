import { useEffect } from 'react'
import { useRemoteInstance } from './remote-instance.ts'
import { sanitizeForDisplay } from './sanitize-for-display.ts'

export type FaviconStatus = 'idle' | 'building' | 'ready' | 'failed'

const titlePrefixes: Record<FaviconStatus, string> = { idle: '', building: 'Building · ', ready: 'Ready · ', failed: 'Failed · ' }
const faviconFiles: Record<FaviconStatus, string> = {
  idle: 'favicon.svg',
  building: 'favicon-building.svg',
  ready: 'favicon-ready.svg',
  failed: 'favicon-failed.svg',
}

/** Sets the window title and the favicon, which shows the deployment status while the tab is in the background. */
export function useTitle(title: string, faviconStatus: FaviconStatus = 'idle'): void {
  const remote = useRemoteInstance()
  useEffect(() => {
    document.title = sanitizeForDisplay(`${titlePrefixes[faviconStatus]}${title} · ${remote === null ? '' : `${remote.name} · `}Homeport`)
    const icon = remote === null ? `${import.meta.env.BASE_URL}${faviconFiles[faviconStatus]}` : remoteFavicon(remote.hue, faviconStatus)
    document.querySelector('#favicon')?.setAttribute('href', icon)
  }, [title, faviconStatus, remote])
}

const statusMarks: Record<FaviconStatus, string> = {
  idle: '',
  building:
    '<circle cx="48" cy="48" r="13" fill="#0d1a29" stroke="#fff" stroke-width="3"/><path d="M48 40.5a7.5 7.5 0 1 1-7.5 7.5" fill="none" stroke="#f2b84b" stroke-width="4" stroke-linecap="round"/>',
  ready: '<circle cx="48" cy="48" r="13" fill="#35c17f" stroke="#fff" stroke-width="3"/>',
  failed: '<path d="M48 33 63 48 48 63 33 48Z" fill="#ff5a4f" stroke="#fff" stroke-width="3"/>',
}

/** A round favicon in the frame color distinguishes tabs of a remote instance. */
function remoteFavicon(hue: number, faviconStatus: FaviconStatus): string {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="32" fill="hsl(${Math.round(hue)} 70% 36%)"/><path d="M20.5 15v34M43.5 15v34" stroke="#fff" stroke-width="8" stroke-linecap="round"/><path d="M20.5 35c6.5-8 10.3-6.2 11.5-3s5 5 11.5-3" fill="none" stroke="#fff" stroke-width="7"/>${statusMarks[faviconStatus]}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`
}
