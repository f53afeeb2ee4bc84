import type { Deployment } from '../../../server/contract/deployments.ts'
import { usePictureUrl } from '../../api/pictures.ts'
import { webAddress } from '../../ui/web-address.ts'
import { Picture } from './picture.tsx'

/** How a deployment looks on a desk and on a phone, in a window and a hand's frame. A click opens the address, when it has one. */
export function DeviceFrames({ slug, deployment, address }: { slug: string; deployment: Deployment; address: string | null }) {
  const urlOf = usePictureUrl()
  const desktop = urlOf(slug, deployment, 'desktop')
  const mobile = urlOf(slug, deployment, 'mobile')
  const frames = (
    <>
      <span className="desk-frame">
        <span className="desk-bar" aria-hidden>
          <i />
          <i />
          <i />
        </span>
        <Picture url={desktop} variant="desktop" alt={`${slug} on a desktop screen`} />
      </span>
      <span className="phone-frame">
        <Picture url={mobile} variant="mobile" alt={`${slug} on a phone`} />
      </span>
    </>
  )
  return (
    <figure className="device-frames">
      {webAddress(address) ? (
        <a href={webAddress(address)} target="_blank" rel="noreferrer noopener" aria-label={`Open ${slug}`} className="device-stage">
          {frames}
        </a>
      ) : (
        <div className="device-stage">{frames}</div>
      )}
      {desktop === null && mobile === null && <figcaption className="faint">No picture of it yet</figcaption>}
    </figure>
  )
}
