import { useState } from 'react'
import { Link } from 'wouter'
import { useInstanceSession } from '../../api/instance.ts'
import { useTitle } from '../../lib/use-title.ts'
import { Button } from '../../components/button.tsx'
import { Contours } from '../../components/contours.tsx'
import { SourceForm } from './source-form.tsx'
import type { DroppedSource } from '../../lib/dropped-source.ts'
import { DropZone } from '../upload/index.ts'
import { RuntimeReport } from '../instance/index.ts'
import styles from './welcome.module.css'

/** Empty state of a new instance: the detected runtime and the first deployment. */
export function Welcome() {
  useTitle('Welcome')
  const [dropped, setDropped] = useState<DroppedSource | null>(null)
  const [initialKind, setInitialKind] = useState<'sample'>()
  const { isPending } = useInstanceSession()
  return (
    <DropZone label="Drop to deploy" onDropped={setDropped}>
      <div className={styles.welcome}>
        <Contours />
        <header>
          <h1>Deploy your first app</h1>
          <p className="text-muted">
            Choose a folder, enter a Git URL or drop a .zip. Homeport detects the framework, builds the app, checks its health and gives it a URL.
          </p>
        </header>
        <RuntimeReport />
        {/* Renders together with the report above, whose height varies, to avoid a layout shift. */}
        {!isPending && (
          <>
            <div className={`card ${styles.welcomeCard}`}>
              <SourceForm dropped={dropped} initialKind={initialKind} />
            </div>
            {initialKind === undefined && (
              <p className={styles.welcomeNone}>
                No app yet?{' '}
                <Button kind="bare" onClick={() => setInitialKind('sample')}>
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
