import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Database } from '../../../server/contract/databases.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { IconButton } from '../../components/button.tsx'
import { CopyButton, CopyText } from '../../components/copy.tsx'
import { formatBytes } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { passwordMask, maskConnectionString, pgpassEntry, psqlCommand } from './database-format.ts'

/** Everything that it takes to reach the database from this machine. */
export function DatabaseConnection({ database }: { database: Database }) {
  const [isShown, setShown] = useState(false)
  const isRemote = !useCapabilities().is_local
  const psql = psqlCommand(database)
  return (
    <section className="card" aria-labelledby="connection">
      <header className="card-header db-head">
        <h2 id="connection">Connection</h2>
        <span className="text-subtle db-engine">
          PostgreSQL {database.engine_version} · {formatBytes(database.size_bytes)} · made <RelativeTime at={database.created_at} />
        </span>
      </header>
      <div className="card-body stack">
        <div className="stack db-strings">
          <ConnectionLine label="Connection string">
            <p className="command">
              <code>{isShown ? database.connection_string : maskConnectionString(database)}</code>
              <span className="row db-actions">
                <IconButton
                  icon={isShown ? EyeOff : Eye}
                  label={isShown ? 'Hide the password' : 'Show the password'}
                  onClick={() => setShown(!isShown)}
                />
                <CopyButton text={database.connection_string} label="Copy the connection string" />
              </span>
            </p>
          </ConnectionLine>
          <ConnectionLine label="psql (prompts for the password)">
            <p className="command">
              <code>{psql}</code>
              <CopyButton text={psql} label="Copy the psql line" />
            </p>
          </ConnectionLine>
        </div>
        <dl className="db-facts">
          <Fact name="Host" text={database.host} />
          <Fact name="Port" text={String(database.port)} />
          <Fact name="Database" text={database.db_name} />
          <Fact name="User" text={database.db_user} />
          <div>
            <dt>Password</dt>
            <dd className="row db-actions">
              {isShown ? (
                <code>{database.password}</code>
              ) : (
                <span className="db-mask" role="img" aria-label="Password, hidden">
                  {passwordMask}
                </span>
              )}
              <CopyButton text={database.password} label="Copy the password" />
            </dd>
          </div>
        </dl>
        <details className="disclosure">
          <summary>Without being asked for the password</summary>
          <p className="text-muted db-pgpass">
            Put this line into <code>~/.pgpass</code>, a file that only you may read (<code>chmod 600 ~/.pgpass</code>). Then psql and pg_dump take
            the password from there, and it stands in no command.
          </p>
          <p className="command">
            <code>{pgpassEntry(database, isShown ? database.password : passwordMask)}</code>
            <CopyButton text={pgpassEntry(database, database.password)} label="Copy the line for .pgpass" />
          </p>
        </details>
        <p className="text-subtle">
          {isRemote
            ? `These work on the machine of the instance: ${database.host} is that machine, not this one.`
            : 'These work on this machine, for your own tools.'}{' '}
          The app reaches the same database by an address of its own, in <code>DATABASE_URL</code>.
        </p>
      </div>
    </section>
  )
}

function ConnectionLine({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="field" role="group" aria-label={label}>
      <span className="db-label">{label}</span>
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
