/** For the process of a platform: a screenshotter that asks the one that a test serves at the address in this module's query. */
import { request } from 'node:http'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { IncomingMessage } from 'node:http'
import type { PlatformHost } from '../../server/platform.ts'
import type { Picture } from '../../server/screenshot/screenshot.ts'

const address = new URL(import.meta.url).searchParams.get('address') ?? ''

export const host: PlatformHost = {
  screenshotter: {
    name: () => 'a test',
    async *take({ signal, ...shot }) {
      const asking = request(address, { method: 'POST', agent: false, signal })
      asking.end(JSON.stringify(shot))
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      for await (const line of createInterface({ input: answer })) {
        const { picture, error } = JSON.parse(line) as { picture?: { variant: Picture['variant']; png: string }; error?: string }
        if (error !== undefined) throw new Error(error)
        if (picture) yield { variant: picture.variant, png: Buffer.from(picture.png, 'base64') }
      }
    },
  },
}
