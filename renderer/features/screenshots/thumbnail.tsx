import { useScreenshotUrl } from '../../api/screenshots.ts'
import type { WithScreenshots } from '../../api/screenshots.ts'
import { Screenshot } from './screenshot.tsx'

/** The desktop picture, small. What it shows is named right beside it: it says nothing of its own. */
export function Thumbnail({ slug, deployment }: { slug: string; deployment: WithScreenshots | null | undefined }) {
  return <Screenshot url={useScreenshotUrl()(slug, deployment, 'desktop')} variant="desktop" alt="" />
}
