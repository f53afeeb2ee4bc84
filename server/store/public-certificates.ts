import type { AcmeAccountRow, AcmeAttemptRow, PublicCertificateRow } from './public-certificate-tables.ts'
import { all, first, run, tables } from './query.ts'
import type { Sealer } from './sealer.ts'
import type { Db } from './store.ts'

const accountContextOf = (directory: string) => ({ table: 'acme_accounts', column: 'sealed_key', row: directory })
const certificateContextOf = (directory: string, name: string) => ({
  table: 'public_certificates',
  column: 'sealed_key',
  row: `${directory} ${name}`,
})

const findAccount = first((directory: string) => tables.selectFrom('acme_accounts').selectAll().where('directory', '=', directory))
const listCertificates = all((directory: string) =>
  tables.selectFrom('public_certificates').selectAll().where('directory', '=', directory).orderBy('name'),
)
const deleteCertificate = run((directory: string, name: string) =>
  tables.deleteFrom('public_certificates').where('directory', '=', directory).where('name', '=', name),
)
const listAttempts = all((directory: string) =>
  tables.selectFrom('acme_attempts').select(['name', 'kind', 'at']).where('directory', '=', directory).orderBy('at'),
)
const deleteAttempts = run((directory: string, oldest: number) =>
  tables.deleteFrom('acme_attempts').where('directory', '=', directory).where('at', '<', oldest),
)

/** What another master key sealed is ordered again, so it does not keep the instance from starting. */
function unsealIfPossible(unseal: () => string): string | null {
  try {
    return unseal()
  } catch {
    return null
  }
}

/** Accounts at certificate authorities. Their keys are encrypted. */
export function createAcmeAccountStore(db: Db, sealer: Sealer) {
  return {
    read: (directory: string) =>
      db.read((tx) => {
        const row = findAccount(tx, directory)
        const key = row && unsealIfPossible(() => sealer.unseal(accountContextOf(directory), row.sealed_key))
        return row && key != null ? { directory, url: row.url, key } : undefined
      }),
    write: ({ key, ...row }: Omit<AcmeAccountRow, 'sealed_key'> & { key: string }) =>
      db.write((tx) => {
        const sealed = { ...row, sealed_key: sealer.seal(accountContextOf(row.directory), key) }
        tx.run(
          tables
            .insertInto('acme_accounts')
            .values(sealed)
            .onConflict((conflict) => conflict.column('directory').doUpdateSet(sealed)),
        )
      }),
  }
}

type CertificateRecord = Omit<PublicCertificateRow, 'directory' | 'sealed_key'> & { key: string | null }

/** The certificates of public names from one authority. Their keys are encrypted. */
export function createPublicCertificateStore(db: Db, sealer: Sealer, directory: string) {
  return {
    list: () =>
      db.read((tx) =>
        listCertificates(tx, directory).map(({ sealed_key, directory: _, ...row }): CertificateRecord => {
          const key = sealed_key && unsealIfPossible(() => sealer.unseal(certificateContextOf(directory, row.name), sealed_key))
          return { ...row, key, certificate: key && row.certificate }
        }),
      ),
    write: ({ key, ...row }: CertificateRecord) =>
      db.write((tx) => {
        const sealed_key = key === null ? null : sealer.seal(certificateContextOf(directory, row.name), key)
        const sealed = { ...row, directory, sealed_key }
        tx.run(
          tables
            .insertInto('public_certificates')
            .values(sealed)
            .onConflict((conflict) => conflict.columns(['directory', 'name']).doUpdateSet(sealed)),
        )
      }),
    remove: (name: string) => db.write((tx) => void deleteCertificate(tx, directory, name)),
    listAttempts: () => db.read((tx) => listAttempts(tx, directory)),
    addAttempt: (attempt: Omit<AcmeAttemptRow, 'directory'>, oldest: number) =>
      db.write((tx) => {
        deleteAttempts(tx, directory, oldest)
        tx.run(tables.insertInto('acme_attempts').values({ ...attempt, directory }))
      }),
  }
}
