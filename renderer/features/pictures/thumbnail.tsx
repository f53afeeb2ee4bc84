import { usePictureUrl } from '../../api/pictures.ts'
import type { Pictured } from '../../api/pictures.ts'
import { Picture } from './picture.tsx'

/** The desktop picture, small. What it shows is named right beside it: it says nothing of its own. */
export function Thumbnail({ slug, deployment }: { slug: string; deployment: Pictured | null | undefined }) {
  return <Picture url={usePictureUrl()(slug, deployment, 'desktop')} variant="desktop" alt="" />
}
