import type { Backup } from '../../../server/contract/maintenance.ts'
import { useInstanceSession } from '../../api/queries.ts'
import { useDisk } from '../../api/maintenance.ts'
import { CopyButton } from '../../components/copy.tsx'

/** How a backup comes back, and the one thing that is in none. */
export function RestoreInstructions({ newest }: { newest: Backup | undefined }) {
  const session = useInstanceSession().data
  const dataDir = useDisk().data?.data_dir
  const isInKeychain = session?.instance.encryption === 'keychain'
  const keyFile = dataDir && `${dataDir}/${isInKeychain ? 'master.key.sealed' : 'master.key'}`
  const command = `npx homeport restore ${shellQuote(newest?.path ?? 'BACKUP-FILE')} --data NEW-FOLDER --key ${shellQuote(keyFile ?? 'KEY-FILE')}`
  return (
    <div className="backup-pair">
      <section className="card card-body stack" aria-labelledby="bring-back">
        <h2 id="bring-back">To bring one back</h2>
        <p className="text-muted">
          Into a new, empty folder, on this machine or on another. No instance has to run for it, and none is changed. Every checksum is proven before
          it ends; then <code>homeport serve --data NEW-FOLDER</code> starts it.
        </p>
        <p className="command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy the command" />
        </p>
      </section>
      <section className="card card-body stack" aria-labelledby="not-in-it">
        <h2 id="not-in-it">What is not in it</h2>
        <p className="text-muted">
          The master key. Without it nobody reads a variable or a password of a backup, you neither.{' '}
          {isInKeychain
            ? 'It lies in this file, which the keychain of this machine alone can open: on another machine a backup comes back without its secrets.'
            : 'It lies in this file, unless HOMEPORT_MASTER_KEY_FILE names another. Keep a copy of it elsewhere, apart from the backups.'}
        </p>
        {keyFile && (
          <p className="command">
            <code>{keyFile}</code>
            <CopyButton text={keyFile} label="Copy where the master key lies" />
          </p>
        )}
      </section>
    </div>
  )
}

/** A path as a shell takes it. */
function shellQuote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`
}
