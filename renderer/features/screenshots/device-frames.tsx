import type { Deployment } from '../../../server/contract/deployments.ts'
import { useScreenshotUrl } from '../../api/screenshots.ts'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { Screenshot } from './screenshot.tsx'
import styles from './screenshots.module.css'

/** Screenshots of a deployment in a desktop and a phone frame. A click opens the URL, if there is one. */
export function DeviceFrames({ slug, deployment, address }: { slug: string; deployment: Deployment; address: string | null }) {
  const screenshotUrl = useScreenshotUrl()
  const desktop = screenshotUrl(slug, deployment, 'desktop')
  const mobile = screenshotUrl(slug, deployment, 'mobile')
  const frames = (
    <>
      <span className={styles.desktopFrame}>
        <span className={styles.desktopFrameBar} aria-hidden>
          <i />
          <i />
          <i />
        </span>
        <Screenshot url={desktop} variant="desktop" alt={`${slug} on a desktop screen`} />
      </span>
      <span className={styles.phoneFrame}>
        <Screenshot url={mobile} variant="mobile" alt={`${slug} on a phone`} />
      </span>
    </>
  )
  return (
    <figure className={styles.deviceFrames}>
      {safeWebUrl(address) ? (
        <a href={safeWebUrl(address)} target="_blank" rel="noreferrer noopener" aria-label={`Open ${slug}`} className={styles.deviceStage}>
          {frames}
        </a>
      ) : (
        <div className={styles.deviceStage}>{frames}</div>
      )}
      {desktop === null && mobile === null && <figcaption className="text-subtle">No screenshot yet</figcaption>}
    </figure>
  )
}
