import { isProcessAlive, readInstanceFile } from '../lib/instance-file.ts'
import { ApiError } from '../client/api-error.ts'

/** `url` and `token` come from a flag or the environment, and take precedence over `DIR/instance.json`. */
export interface InstanceLocator {
  url: string | undefined
  token: string | undefined
  data_dir: string
}

/** Throws an ApiError `unreachable` if no instance is known, or if its instance.json is stale. */
export function findInstance(locator: InstanceLocator): { url: string; token: string | undefined } {
  const file = readInstanceFile(locator.data_dir)
  if (locator.url !== undefined) {
    if (!URL.canParse(locator.url)) throw new ApiError('unreachable', `“${locator.url}” is not a URL. Use a URL such as http://127.0.0.1:4600`)
    const isOurs = file !== undefined && new URL(locator.url).origin === new URL(file.api_url).origin
    return { url: locator.url, token: locator.token ?? (isOurs ? file.token : undefined) }
  }
  if (!file) throw new ApiError('unreachable', `No Homeport is running on ${locator.data_dir}. Start one with: homeport serve`)
  if (!isProcessAlive(file.pid)) {
    throw new ApiError(
      'unreachable',
      `The Homeport on ${locator.data_dir} (process ${file.pid}) is no longer running, and its instance.json is stale. Start it with: homeport serve`,
    )
  }
  return { url: file.api_url, token: locator.token ?? file.token }
}
