import { isProcessAlive, readInstanceFile } from '../lib/instance-file.ts'
import { NotReachable } from './client.ts'

/** Where to look, in this order: the flag, the environment, `DIR/instance.json`. */
export interface Whereabouts {
  url: string | undefined
  token: string | undefined
  data_dir: string
}

/** Throws `NotReachable` when nothing says where an instance is, or when what says so is stale. */
export function findInstance(where: Whereabouts): { url: string; token: string | undefined } {
  const file = readInstanceFile(where.data_dir)
  if (where.url !== undefined) {
    if (!URL.canParse(where.url)) throw new NotReachable(`“${where.url}” is not an address. Write it like http://127.0.0.1:4600`)
    const isOurs = file !== undefined && new URL(where.url).origin === new URL(file.api_url).origin
    return { url: where.url, token: where.token ?? (isOurs ? file.token : undefined) }
  }
  if (!file) throw new NotReachable(`No Homeport runs on ${where.data_dir}. Start one with: homeport serve`)
  if (!isProcessAlive(file.pid)) {
    throw new NotReachable(
      `The Homeport of ${where.data_dir} (process ${file.pid}) is no longer running; its instance.json is stale. Start it with: homeport serve`,
    )
  }
  return { url: file.api_url, token: where.token ?? file.token }
}
