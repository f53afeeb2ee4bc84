import { useScreenshotUrl, type WithScreenshots } from '../../api/screenshots.ts'
import { Screenshot } from './screenshot.tsx'

/** The desktop screenshot as a thumbnail. It is decorative, because the name is next to it. */
export function Thumbnail({ slug, deployment }: { slug: string; deployment: WithScreenshots | null | undefined }) {
  return <Screenshot url={useScreenshotUrl()(slug, deployment, 'desktop')} variant="desktop" alt="" />
}
