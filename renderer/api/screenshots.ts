import type { Deployment } from '../../server/contract/deployments.ts'
import type { ScreenshotVariant } from '../../server/contract/previews.ts'
import { useConnection } from '../stores/connection.ts'
import { readError } from '../../server/client/api-error.ts'
import { sessionHeaders } from './session.ts'

export type WithScreenshots = Pick<Deployment, 'id' | 'screenshots'>

/** URL of a deployment's screenshot; null while there is none. */
export function useScreenshotUrl(): (slug: string, deployment: WithScreenshots | null | undefined, variant: ScreenshotVariant) => string | null {
  const client = useConnection((state) => state.current.client)
  return (slug, deployment, variant) =>
    deployment?.screenshots?.[variant] ? client.urlOf('getScreenshot', { params: { slug, id: deployment.id, variant } }) : null
}

/** Fetches the image as a blob, because an <img> element cannot send the session header. */
export async function fetchScreenshot(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { redirect: 'error', credentials: 'same-origin', headers: sessionHeaders(), signal })
  if (!response.ok) throw await readError(response)
  return response.blob()
}
