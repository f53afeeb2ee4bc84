import { useEffect, useState } from 'react'
import type { ScreenshotVariant } from '../../../server/contract/previews.ts'
import { fetchScreenshot } from '../../api/screenshots.ts'
import styles from './screenshots.module.css'

const sizes = { desktop: { width: 1280, height: 800 }, mobile: { width: 390, height: 844 } } as const satisfies Record<ScreenshotVariant, object>

/** A screenshot with a reserved aspect ratio: a placeholder while loading, empty without one. */
export function Screenshot({ url, variant, alt }: { url: string | null; variant: ScreenshotVariant; alt: string }) {
  return (
    <span className={`${styles.screenshot} ${styles[`screenshot-${variant}`]}`}>
      {/* Another URL is another image and starts over. */}
      <ScreenshotImage key={url} url={url} variant={variant} alt={alt} />
    </span>
  )
}

function ScreenshotImage({ url, variant, alt }: { url: string | null; variant: ScreenshotVariant; alt: string }) {
  const [state, setState] = useState<'waiting' | 'there' | 'missing'>('waiting')
  const [source, setSource] = useState<string>()
  useEffect(() => {
    if (url === null) return
    const controller = new AbortController()
    let objectUrl: string | undefined
    fetchScreenshot(url, controller.signal).then(
      (blob) => setSource((objectUrl = URL.createObjectURL(blob))),
      () => controller.signal.aborted || setState('missing'),
    )
    return () => {
      controller.abort()
      if (objectUrl !== undefined) URL.revokeObjectURL(objectUrl)
    }
  }, [url])
  if (url === null || state === 'missing') return <span className={styles.screenshotMissing} aria-hidden />
  return (
    <>
      {state === 'waiting' && <span className={`skeleton ${styles.screenshotLoading}`} aria-hidden />}
      {source !== undefined && (
        <img src={source} alt={alt} {...sizes[variant]} decoding="async" onLoad={() => setState('there')} onError={() => setState('missing')} />
      )}
    </>
  )
}
