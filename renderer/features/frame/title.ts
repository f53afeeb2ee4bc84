import { useEffect } from 'react'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { calm } from '../../ui/calm.ts'

export type Beacon = 'idle' | 'building' | 'ready' | 'failed'

const words: Record<Beacon, string> = { idle: '', building: 'Building · ', ready: 'Ready · ', failed: 'Failed · ' }
const icons: Record<Beacon, string> = {
  idle: 'favicon.svg',
  building: 'favicon-building.svg',
  ready: 'favicon-ready.svg',
  failed: 'favicon-failed.svg',
}

/** Names the window after the page, and lets the tab tell how the deployment on it goes while one looks elsewhere. */
export function useTitle(title: string, beacon: Beacon = 'idle'): void {
  const { id, name, hue } = useConnection((state) => state.current)
  const remote = id === homeId ? null : name
  useEffect(() => {
    document.title = calm(`${words[beacon]}${title} · ${remote === null ? '' : `${remote} · `}Homeport`)
    const icon = remote === null ? `${import.meta.env.BASE_URL}${icons[beacon]}` : remoteIcon(hue, beacon)
    document.querySelector('#favicon')?.setAttribute('href', icon)
  }, [title, beacon, remote, hue])
}

const marks: Record<Beacon, string> = {
  idle: '',
  building:
    '<circle cx="48" cy="48" r="13" fill="#0d1a29" stroke="#fff" stroke-width="3"/><path d="M48 40.5a7.5 7.5 0 1 1-7.5 7.5" fill="none" stroke="#f2b84b" stroke-width="4" stroke-linecap="round"/>',
  ready: '<circle cx="48" cy="48" r="13" fill="#35c17f" stroke="#fff" stroke-width="3"/>',
  failed: '<path d="M48 33 63 48 48 63 33 48Z" fill="#ff5a4f" stroke="#fff" stroke-width="3"/>',
}

/** Round and in the colour of its frame, so that a tab is told from those of this machine by more than its colour. */
function remoteIcon(hue: number, beacon: Beacon): string {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="32" fill="hsl(${Math.round(hue)} 70% 36%)"/><path d="M20.5 15v34M43.5 15v34" stroke="#fff" stroke-width="8" stroke-linecap="round"/><path d="M20.5 35c6.5-8 10.3-6.2 11.5-3s5 5 11.5-3" fill="none" stroke="#fff" stroke-width="7"/>${marks[beacon]}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`
}
