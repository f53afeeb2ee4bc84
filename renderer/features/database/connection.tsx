import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Database } from '../../../server/contract/databases.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { IconButton } from '../../components/button.tsx'
import { CopyButton, CopyText } from '../../components/copy.tsx'
import { formatBytes } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { passwordMask, maskConnectionString, pgpassEntry, psqlCommand } from '../../lib/database-format.ts'
import styles from './page.module.css'

/** Connection details of the database for tools on this machine. */
export function DatabaseConnection({ database }: { database: Database }) {
  const [isShown, setShown] = useState(false)
  const isRemote = !useCapabilities().is_local
  const psql = psqlCommand(database)
  return (
    <section className="card" aria-labelledby="connection">
      <header className={`card-header ${styles.dbHead}`}>
        <h2 id="connection">Connection</h2>
        <span className={`text-subtle ${styles.dbEngine}`}>
          PostgreSQL {database.engine_version} · {formatBytes(database.size_bytes)} · created <RelativeTime at={database.created_at} />
        </span>
      </header>
      <div className="card-body stack">
        <div className="stack">
          <ConnectionLine label="Connection string">
            <p className="command">
              <code>{isShown ? database.connection_string : maskConnectionString(database)}</code>
              <span className={`row ${styles.dbActions}`}>
                <IconButton icon={isShown ? EyeOff : Eye} label={isShown ? 'Hide password' : 'Show password'} onClick={() => setShown(!isShown)} />
                <CopyButton text={database.connection_string} label="Copy connection string" />
              </span>
            </p>
          </ConnectionLine>
          <ConnectionLine label="psql (prompts for the password)">
            <p className="command">
              <code>{psql}</code>
              <CopyButton text={psql} label="Copy psql command" />
            </p>
          </ConnectionLine>
        </div>
        <dl className={styles.dbFacts}>
          <Fact name="Host" text={database.host} />
          <Fact name="Port" text={String(database.port)} />
          <Fact name="Database" text={database.db_name} />
          <Fact name="User" text={database.db_user} />
          <div>
            <dt>Password</dt>
            <dd className={`row ${styles.dbActions}`}>
              {isShown ? (
                <code>{database.password}</code>
              ) : (
                <span className={styles.dbMask} role="img" aria-label="Hidden password">
                  {passwordMask}
                </span>
              )}
              <CopyButton text={database.password} label="Copy password" />
            </dd>
          </div>
        </dl>
        <details className="disclosure">
          <summary>Connect without a password prompt</summary>
          <p className={`text-muted ${styles.dbPgpass}`}>
            Add this line to <code>~/.pgpass</code>, a file that only you can read (<code>chmod 600 ~/.pgpass</code>). psql and pg_dump then read the
            password from that file.
          </p>
          <p className="command">
            <code>{pgpassEntry(database, isShown ? database.password : passwordMask)}</code>
            <CopyButton text={pgpassEntry(database, database.password)} label="Copy .pgpass line" />
          </p>
        </details>
        <p className="text-subtle">
          {isRemote
            ? `These values work only on the instance’s machine: ${database.host} refers to that machine, not to this one.`
            : 'Use these values with your own tools on this machine.'}{' '}
          The app connects to the same database through its own <code>DATABASE_URL</code>.
        </p>
      </div>
    </section>
  )
}

function ConnectionLine({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="field" role="group" aria-label={label}>
      <span className={styles.dbLabel}>{label}</span>
      {children}
    </div>
  )
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <CopyText text={text} />
      </dd>
    </div>
  )
}
