import { useState } from 'react'
import { Link } from 'wouter'
import { useInstance } from '../../api/queries.ts'
import { useTitle } from '../frame/title.ts'
import { Button } from '../../ui/button.tsx'
import { Contours } from '../../ui/contours.tsx'
import { SourceForm } from '../projects/source-form.tsx'
import type { Dropped } from '../upload/archive.ts'
import { DropZone } from '../upload/drop-zone.tsx'
import { EngineReport } from './engine-report.tsx'
import './welcome.css'

/** Nothing is here yet: what the platform found on this machine, and the first step. */
export function Welcome() {
  useTitle('Welcome')
  const [dropped, setDropped] = useState<Dropped | null>(null)
  const [begin, setBegin] = useState<'sample'>()
  const { isPending } = useInstance()
  return (
    <DropZone invitation="Drop it to deploy" onDropped={setDropped}>
      <div className="welcome">
        <Contours />
        <header>
          <h1>Deploy your first app</h1>
          <p className="quiet">
            Point at a folder or a git address, or drop a .zip. Homeport finds out what it is, builds it, checks that it answers, and gives it an
            address.
          </p>
        </header>
        <EngineReport />
        {/* Below a report of so many lines: it comes with it, or it would jump. */}
        {!isPending && (
          <>
            <div className="card welcome-card">
              <SourceForm dropped={dropped} begin={begin} />
            </div>
            {begin === undefined && (
              <p className="welcome-none">
                No app yet?{' '}
                <Button kind="bare" onClick={() => setBegin('sample')}>
                  Try a sample
                </Button>{' '}
                <Link href="/help/start">How it works</Link>
              </p>
            )}
          </>
        )}
      </div>
    </DropZone>
  )
}
