import { TriangleAlert } from 'lucide-react'
import { useInstance } from '../../api/queries.ts'
import { useBackups } from '../../api/upkeep.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Ago } from '../../ui/time.tsx'
import './recovered.css'

/** A start found the ledger damaged and took a copy of it: what was done since that copy is lost, and its owner has to know. */
export function Recovered() {
  const isOwner = useInstance().data?.user.is_instance_owner ?? false
  const recovered = useBackups(isOwner).data?.recovered
  if (!recovered) return null
  return (
    <div className="recovered" role="alert">
      <TriangleAlert size={18} aria-hidden />
      <div>
        <p>
          <Prose text={recovered.message} />
        </p>
        <p className="quiet">
          It was found <Ago at={recovered.at} />.
        </p>
        {recovered.damaged_file && (
          <p className="recovered-file">
            <span className="mono">{recovered.damaged_file}</span>
            <CopyButton text={recovered.damaged_file} label="Copy where the damaged file lies" />
          </p>
        )}
      </div>
    </div>
  )
}
