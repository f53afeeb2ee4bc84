import { rm, writeFile } from 'node:fs/promises'
import type { HttpsStatus } from '../contract/network.ts'
import type { CertificateAuthority } from './certificate-authority.ts'
import type { TrustStore, AuthorityFile } from './trust-stores.ts'

type TrustStatus = HttpsStatus['trust']

/** Adds the instance's authority to the machine's trust stores, and removes it again. */
export interface TrustStoreManager {
  listStatuses(): Promise<TrustStatus>
  add(): Promise<string[]>
  remove(): Promise<string[]>
}

export function createTrustStoreManager(options: {
  certificateAuthority: CertificateAuthority
  stores(): Promise<TrustStore[]>
  file: string
  platform: NodeJS.Platform
}): TrustStoreManager {
  const { certificateAuthority, file } = options
  /** Runs one at a time, because two runs of `certutil` on one database conflict. */
  let last: Promise<unknown> = Promise.resolve()
  const runSequentially = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work)
    last = result.catch(() => {})
    return result
  }

  const suggestCommand = (status: 'trusted' | 'not_trusted' | 'unavailable', authorityFile: AuthorityFile, store: TrustStore): string | null => {
    if (status === 'trusted') return null
    if (status === 'not_trusted') return store.manualCommands(authorityFile).add
    return options.platform === 'linux' ? 'sudo apt-get install libnss3-tools' : null
  }

  return {
    listStatuses: () =>
      runSequentially(async () => {
        const authority = await certificateAuthority.current()
        const stores = await options.stores()
        if (!authority) return stores.map(({ name }) => ({ store: name, status: 'not_trusted' as const, command: null }))
        const authorityFile = await writeAuthorityFile(authority)
        return Promise.all(
          stores.map(async (store) => {
            const status = await store.readStatus(authorityFile)
            return { store: store.name, status, command: suggestCommand(status, authorityFile, store) }
          }),
        )
      }),

    add: () =>
      runSequentially(async () => {
        const authorityFile = await writeAuthorityFile(await certificateAuthority.ensure())
        const messages: string[] = []
        for (const store of await options.stores()) {
          const status = await store.readStatus(authorityFile)
          if (status === 'trusted') messages.push(`${store.name}: already trusted.`)
          else if (status === 'unavailable')
            messages.push(`${store.name}: not available. ${formatManualCommand(suggestCommand(status, authorityFile, store))}`.trim())
          else {
            const failed = await store.add(authorityFile)
            const done =
              failed === undefined
                ? `${store.name}: now trusted.`
                : `${store.name}: not changed. ${failed} ${formatManualCommand(store.manualCommands(authorityFile).add)}`
            messages.push(done)
          }
        }
        messages.push(`For programs with their own list of authorities, use this file: ${file} (for Node: NODE_EXTRA_CA_CERTS).`)
        return messages
      }),

    remove: () =>
      runSequentially(async () => {
        const authority = await certificateAuthority.current()
        if (!authority) return ['This instance has no certificate authority.']
        const authorityFile = await writeAuthorityFile(authority)
        const messages: string[] = []
        for (const store of await options.stores()) {
          if ((await store.readStatus(authorityFile)) !== 'trusted') continue
          const failed = await store.remove(authorityFile)
          messages.push(
            failed === undefined
              ? `${store.name}: removed.`
              : `${store.name}: not removed. ${failed} ${formatManualCommand(store.manualCommands(authorityFile).remove)}`,
          )
        }
        await certificateAuthority.remove()
        await rm(file, { force: true })
        messages.push('The authority’s key was destroyed. It can no longer sign certificates.')
        return messages
      }),
  }

  /** Programs read the certificate from a file. */
  async function writeAuthorityFile(authority: AuthorityFile['authority']): Promise<AuthorityFile> {
    await writeFile(file, authority.certificate, { mode: 0o644 })
    return { authority, file }
  }
}

const formatManualCommand = (command: string | null): string => (command === null ? '' : `Run: ${command}`)
