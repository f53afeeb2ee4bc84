import { useEffect } from 'react'

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
  useEffect(() => {
    document.title = `${words[beacon]}${title} · Homeport`
    document.querySelector('#favicon')?.setAttribute('href', `${import.meta.env.BASE_URL}${icons[beacon]}`)
  }, [title, beacon])
}
