import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Database } from '../../../server/contract/databases.ts'
import { useOffered } from '../../api/offered.ts'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { bytes } from '../../ui/format.ts'
import { Ago } from '../../ui/time.tsx'
import { mask, maskedString, pgpassLine, psqlLine } from './words.ts'

/** Everything that it takes to reach the database from this machine. */
export function Connection({ database }: { database: Database }) {
  const [isShown, setShown] = useState(false)
  const isElsewhere = !useOffered().is_here
  const psql = psqlLine(database)
  return (
    <section className="card" aria-labelledby="connection">
      <header className="card-head db-head">
        <h2 id="connection">Connection</h2>
        <span className="faint db-engine">
          PostgreSQL {database.engine_version} · {bytes(database.size_bytes)} · made <Ago at={database.created_at} />
        </span>
      </header>
      <div className="card-body stack">
        <div className="stack db-strings">
          <Line label="Connection string">
            <p className="command">
              <code>{isShown ? database.connection_string : maskedString(database)}</code>
              <span className="row db-acts">
                <IconButton
                  icon={isShown ? EyeOff : Eye}
                  label={isShown ? 'Hide the password' : 'Show the password'}
                  onClick={() => setShown(!isShown)}
                />
                <CopyButton text={database.connection_string} label="Copy the connection string" />
              </span>
            </p>
          </Line>
          <Line label="psql (prompts for the password)">
            <p className="command">
              <code>{psql}</code>
              <CopyButton text={psql} label="Copy the psql line" />
            </p>
          </Line>
        </div>
        <dl className="db-facts">
          <Fact name="Host" text={database.host} />
          <Fact name="Port" text={String(database.port)} />
          <Fact name="Database" text={database.db_name} />
          <Fact name="User" text={database.db_user} />
          <div>
            <dt>Password</dt>
            <dd className="row db-acts">
              {isShown ? (
                <code>{database.password}</code>
              ) : (
                <span className="db-mask" role="img" aria-label="Password, hidden">
                  {mask}
                </span>
              )}
              <CopyButton text={database.password} label="Copy the password" />
            </dd>
          </div>
        </dl>
        <details className="look-more">
          <summary>Without being asked for the password</summary>
          <p className="quiet db-pgpass">
            Put this line into <code>~/.pgpass</code>, a file that only you may read (<code>chmod 600 ~/.pgpass</code>). Then psql and pg_dump take
            the password from there, and it stands in no command.
          </p>
          <p className="command">
            <code>{pgpassLine(database, isShown ? database.password : mask)}</code>
            <CopyButton text={pgpassLine(database, database.password)} label="Copy the line for .pgpass" />
          </p>
        </details>
        <p className="faint">
          {isElsewhere
            ? `These work on the machine of the instance: ${database.host} is that machine, not this one.`
            : 'These work on this machine, for your own tools.'}{' '}
          The app reaches the same database by an address of its own, in <code>DATABASE_URL</code>.
        </p>
      </div>
    </section>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
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
