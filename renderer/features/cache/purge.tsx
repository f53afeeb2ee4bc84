import { type FormEvent, useId, useState } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import { limits } from '../../../server/contract/limits.ts'
import { useAction } from '../../api/actions.ts'
import { useOffered } from '../../api/offered.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { Segments } from '../../ui/segments.tsx'
import { purgedWords, usePurged } from './purged.ts'

type Way = 'tags' | 'urls'

/** Takes out what bears a tag, or what is stored of some addresses; complete when the answer is there. */
export function Purge({ slug }: { slug: string }) {
  const [way, setWay] = useState<Way>('tags')
  const [text, setText] = useState('')
  const id = useId()
  const offered = useOffered()
  const showToast = useUi((state) => state.showToast)
  const purged = usePurged(slug)
  const onDone = (answer: { purged: number }) => {
    showToast({ kind: 'done', text: purgedWords(answer.purged), request_id: null })
    setText('')
    purged()
  }
  const byTags = useAction('purgeTags', { quiet: true, onDone })
  const byUrls = useAction('purgeUrls', { quiet: true, onDone })
  const problem = way === 'tags' ? byTags.error : byUrls.error
  const entries = entriesOf(text, way)
  const most = way === 'tags' ? limits.purge_tags.max : limits.purge_urls.max
  const isTooMany = entries.length > most
  const reset = () => {
    byTags.reset()
    byUrls.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (entries.length === 0 || isTooMany) return
    if (way === 'tags') byTags.mutate({ params: { slug }, body: { tags: entries } })
    else byUrls.mutate({ params: { slug }, body: { urls: entries } })
  }
  return (
    <section className="card" aria-labelledby="purge">
      <header className="card-head">
        <h2 id="purge">Purge</h2>
        {offered.instance && (
          <Segments
            label="Purge by"
            value={way}
            choices={[
              { value: 'tags', text: 'By tag' },
              { value: 'urls', text: 'By address' },
            ]}
            onChange={(next) => {
              reset()
              setText('')
              setWay(next)
            }}
          />
        )}
      </header>
      <form className="card-body stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor={id}>{way === 'tags' ? 'Tags' : 'Addresses'}</label>
          <textarea
            id={id}
            className="input mono"
            rows={3}
            spellCheck={false}
            value={text}
            aria-describedby={`${id}-about`}
            placeholder={way === 'tags' ? 'product-41 front-page' : '/\n/products?page=2'}
            onChange={({ target }) => {
              reset()
              setText(target.value)
            }}
          />
          <p id={`${id}-about`} className={isTooMany ? 'field-error' : 'field-hint'}>
            {isTooMany
              ? `These are ${entries.length}; at most ${most} go at once.`
              : way === 'tags'
                ? 'Separate with spaces, commas or new lines. The app names tags in Surrogate-Key or Cache-Tag. Only matching entries are purged.'
                : 'One a line: a path with its query, or a whole address. Every variant of it goes.'}
          </p>
        </div>
        {problem && <ProblemView problem={problem} />}
        <footer className="dialog-foot">
          <Button type="submit" busy={byTags.isPending || byUrls.isPending} disabled={entries.length === 0 || isTooMany}>
            {entries.length < 2 ? 'Purge' : `Purge ${entries.length} ${way === 'tags' ? 'tags' : 'addresses'}`}
          </Button>
        </footer>
      </form>
    </section>
  )
}

function entriesOf(text: string, way: Way): string[] {
  const parts = text.split(way === 'tags' ? /[\s,]+/ : /\s*\n\s*/)
  return [...new Set(parts.map((part) => part.trim()).filter(Boolean))]
}

export function PurgeAllDialog({ project, onOpenChange }: { project: Project; onOpenChange: (open: boolean) => void }) {
  const showToast = useUi((state) => state.showToast)
  const purged = usePurged(project.slug)
  const purge = useAction('purgeAll', {
    quiet: true,
    onDone(answer) {
      showToast({ kind: 'done', text: purgedWords(answer.purged), request_id: null })
      purged()
      onOpenChange(false)
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Purge everything of ${project.name}?`}
      about="All that the edge has stored of it goes, previews included. Nothing is lost: the app is asked again, which is slower for a while."
    >
      {purge.error && <ProblemView problem={purge.error} />}
      <footer className="dialog-foot">
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button kind="primary" busy={purge.isPending} onClick={() => purge.mutate({ params: { slug: project.slug } })}>
          Purge everything
        </Button>
      </footer>
    </Dialog>
  )
}
