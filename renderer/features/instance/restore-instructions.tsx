import { useInstanceSession } from '../../api/instance.ts'
import type { Backup } from '../../../server/contract/maintenance.ts'
import { useDisk } from '../../api/maintenance.ts'
import { CopyButton } from '../../components/copy.tsx'
import styles from './backups-page.module.css'

/** How to restore a backup, and what it does not include. */
export function RestoreInstructions({ newest }: { newest: Backup | undefined }) {
  const session = useInstanceSession().data
  const dataDir = useDisk().data?.data_dir
  const isInKeychain = session?.instance.encryption === 'keychain'
  const keyFile = dataDir && `${dataDir}/${isInKeychain ? 'master.key.sealed' : 'master.key'}`
  const command = `npx homeport restore ${shellQuote(newest?.path ?? 'BACKUP-FILE')} --data NEW-FOLDER --key ${shellQuote(keyFile ?? 'KEY-FILE')}`
  return (
    <div className={styles.backupPair}>
      <section className="card card-body stack" aria-labelledby="restore">
        <h2 id="restore">Restore a backup</h2>
        <p className="text-muted">
          Restores into a new, empty folder on this or another machine. No running instance is needed or changed. All checksums are verified first;
          then <code>homeport serve --data NEW-FOLDER</code> starts the instance.
        </p>
        <p className="command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy command" />
        </p>
      </section>
      <section className="card card-body stack" aria-labelledby="not-in-it">
        <h2 id="not-in-it">Not included</h2>
        <p className="text-muted">
          The master key. Without it, no one can decrypt the variables and passwords in a backup.{' '}
          {isInKeychain
            ? 'It is stored in this file, which only this machine’s keychain can decrypt: on another machine, a backup is restored without its secrets.'
            : 'It is stored in this file, unless HOMEPORT_MASTER_KEY_FILE names another. Keep a copy elsewhere, separate from the backups.'}
        </p>
        {keyFile && (
          <p className="command">
            <code>{keyFile}</code>
            <CopyButton text={keyFile} label="Copy path of the master key" />
          </p>
        )}
      </section>
    </div>
  )
}

/** Quotes a path for a shell. */
function shellQuote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`
}
