import { rm, writeFile } from 'node:fs/promises'
import type { HttpsStatus } from '../contract/network.ts'
import type { AuthorityDesk } from './authority.ts'
import type { TrustStore, Trustee } from './trust-stores.ts'

type Trust = HttpsStatus['trust']

/** Has this machine believe the authority of the instance, and takes that back. */
export interface TrustBook {
  look(): Promise<Trust>
  add(): Promise<string[]>
  remove(): Promise<string[]>
}

export function createTrustBook(options: {
  desk: AuthorityDesk
  stores(): Promise<TrustStore[]>
  file: string
  platform: NodeJS.Platform
}): TrustBook {
  const { desk, file } = options
  /** One after the other: two runs of `certutil` on one database get in each other's way. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work)
    last = result.catch(() => {})
    return result
  }

  const lacking = (status: 'trusted' | 'not_trusted' | 'unavailable', trustee: Trustee, store: TrustStore): string | null => {
    if (status === 'trusted') return null
    if (status === 'not_trusted') return store.byHand(trustee).add
    return options.platform === 'linux' ? 'sudo apt-get install libnss3-tools' : null
  }

  return {
    look: () =>
      inTurn(async () => {
        const authority = await desk.current()
        const stores = await options.stores()
        if (!authority) return stores.map(({ name }) => ({ store: name, status: 'not_trusted' as const, command: null }))
        const trustee = await lay(authority)
        return Promise.all(
          stores.map(async (store) => {
            const status = await store.look(trustee)
            return { store: store.name, status, command: lacking(status, trustee, store) }
          }),
        )
      }),

    add: () =>
      inTurn(async () => {
        const trustee = await lay(await desk.ensure())
        const messages: string[] = []
        for (const store of await options.stores()) {
          const before = await store.look(trustee)
          if (before === 'trusted') messages.push(`${store.name}: trusted already.`)
          else if (before === 'unavailable') messages.push(`${store.name}: cannot be reached. ${byHand(lacking(before, trustee, store))}`.trim())
          else {
            const failed = await store.add(trustee)
            const done =
              failed === undefined ? `${store.name}: trusted now.` : `${store.name}: not changed. ${failed} ${byHand(store.byHand(trustee).add)}`
            messages.push(done)
          }
        }
        messages.push(`Programs with a list of their own take the file: ${file} (for Node: NODE_EXTRA_CA_CERTS).`)
        return messages
      }),

    remove: () =>
      inTurn(async () => {
        const authority = await desk.current()
        if (!authority) return ['There is no authority.']
        const trustee = await lay(authority)
        const messages: string[] = []
        for (const store of await options.stores()) {
          if ((await store.look(trustee)) !== 'trusted') continue
          const failed = await store.remove(trustee)
          messages.push(
            failed === undefined ? `${store.name}: taken out.` : `${store.name}: still in it. ${failed} ${byHand(store.byHand(trustee).remove)}`,
          )
        }
        await desk.remove()
        await rm(file, { force: true })
        messages.push('Its key is destroyed: nothing can be signed with it any more.')
        return messages
      }),
  }

  /** Programs read the certificate from a file. */
  async function lay(authority: Trustee['authority']): Promise<Trustee> {
    await writeFile(file, authority.certificate, { mode: 0o644 })
    return { authority, file }
  }
}

const byHand = (command: string | null): string => (command === null ? '' : `Run: ${command}`)
