import type { Deployment } from '../../server/contract/deployments.ts'
import type { ScreenshotVariant } from '../../server/contract/previews.ts'
import { useConnection } from '../stores/connection.ts'

export type Pictured = Pick<Deployment, 'id' | 'screenshots'>

/** Where the picture of a deployment lies; null while there is none. */
export function usePictureUrl(): (slug: string, deployment: Pictured | null | undefined, variant: ScreenshotVariant) => string | null {
  const client = useConnection((state) => state.current.client)
  return (slug, deployment, variant) =>
    deployment?.screenshots?.[variant] ? client.urlOf('getScreenshot', { params: { slug, id: deployment.id, variant } }) : null
}
