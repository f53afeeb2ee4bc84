import type { Deployment } from '../../../server/contract/deployments.ts'
import { useScreenshotUrl } from '../../api/screenshots.ts'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { Screenshot } from './screenshot.tsx'

/** Screenshots of a deployment in a desktop and a phone frame. A click opens the URL, if there is one. */
export function DeviceFrames({ slug, deployment, address }: { slug: string; deployment: Deployment; address: string | null }) {
  const screenshotUrl = useScreenshotUrl()
  const desktop = screenshotUrl(slug, deployment, 'desktop')
  const mobile = screenshotUrl(slug, deployment, 'mobile')
  const frames = (
    <>
      <span className="desktop-frame">
        <span className="desktop-frame-bar" aria-hidden>
          <i />
          <i />
          <i />
        </span>
        <Screenshot url={desktop} variant="desktop" alt={`${slug} on a desktop screen`} />
      </span>
      <span className="phone-frame">
        <Screenshot url={mobile} variant="mobile" alt={`${slug} on a phone`} />
      </span>
    </>
  )
  return (
    <figure className="device-frames">
      {safeWebUrl(address) ? (
        <a href={safeWebUrl(address)} target="_blank" rel="noreferrer noopener" aria-label={`Open ${slug}`} className="device-stage">
          {frames}
        </a>
      ) : (
        <div className="device-stage">{frames}</div>
      )}
      {desktop === null && mobile === null && <figcaption className="text-subtle">No screenshot yet</figcaption>}
    </figure>
  )
}
