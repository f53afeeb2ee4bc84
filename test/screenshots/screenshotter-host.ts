/** For the process of a platform: a screenshotter that calls the one served by a test at the address in this module's query. */
import type { PlatformHost } from '../../server/platform.ts'
import type { CapturedScreenshot } from '../../server/screenshots/screenshotter.ts'

const address = new URL(import.meta.url).searchParams.get('address') ?? ''

export const host: PlatformHost = {
  screenshotter: {
    name: () => 'a test',
    async *take({ signal, ...shot }) {
      const { body } = await fetch(address, { method: 'POST', body: JSON.stringify(shot), signal })
      const decoder = new TextDecoder()
      let rest = ''
      for await (const chunk of body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const { picture, error } = JSON.parse(line) as { picture?: { variant: CapturedScreenshot['variant']; png: string }; error?: string }
          if (error !== undefined) throw new Error(error)
          if (picture) yield { variant: picture.variant, png: Buffer.from(picture.png, 'base64') }
        }
      }
    },
  },
}
