import { useId } from 'react'
import { usePurgeAll, usePurgeTags, usePurgeUrls } from '../../api/edge-cache.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { limits } from '../../../server/contract/limits.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { useForm } from '../../lib/use-form.ts'
import { purgeSummary } from './purge-summary.ts'

type PurgeBy = 'tags' | 'urls'

/** Purges entries by tag or URL. The purge is complete when the response arrives. */
export function Purge({ slug }: { slug: string }) {
  const id = useId()
  const capabilities = useCapabilities()
  const options = { hidesErrorToast: true, successMessage: purgeSummary, onSuccess: () => form.set({ text: '' }) }
  const byTags = usePurgeTags(options)
  const byUrls = usePurgeUrls(options)
  const form = useForm<{ purgeBy: PurgeBy; text: string }>({
    initial: { purgeBy: 'tags', text: '' },
    submission: {
      isPending: byTags.isPending || byUrls.isPending,
      error: byTags.error ?? byUrls.error,
      reset() {
        byTags.reset()
        byUrls.reset()
      },
    },
    onSubmit() {
      if (!canSubmit) return
      if (purgeBy === 'tags') byTags.mutate({ params: { slug }, body: { tags: entries } })
      else byUrls.mutate({ params: { slug }, body: { urls: entries } })
    },
  })
  const { purgeBy, text } = form.values
  const entries = parseEntries(text, purgeBy)
  const maxEntries = purgeBy === 'tags' ? limits.purge_tags.max : limits.purge_urls.max
  const isTooMany = entries.length > maxEntries
  const canSubmit = entries.length > 0 && !isTooMany
  return (
    <section className="card" aria-labelledby="purge">
      <header className="card-header">
        <h2 id="purge">Purge</h2>
        {capabilities.has_instance_api && (
          <SegmentedControl
            label="Purge by"
            value={purgeBy}
            choices={[
              { value: 'tags', text: 'By tag' },
              { value: 'urls', text: 'By URL' },
            ]}
            onChange={(next) => form.set({ purgeBy: next, text: '' })}
          />
        )}
      </header>
      <form className="card-body stack" {...form.props}>
        <div className="field">
          <label htmlFor={id}>{purgeBy === 'tags' ? 'Tags' : 'URLs'}</label>
          <textarea
            id={id}
            className="input mono"
            rows={3}
            spellCheck={false}
            value={text}
            aria-describedby={`${id}-about`}
            placeholder={purgeBy === 'tags' ? 'product-41 front-page' : '/\n/products?page=2'}
            onChange={({ target }) => form.set({ text: target.value })}
          />
          <p id={`${id}-about`} className={isTooMany ? 'field-error' : 'field-hint'}>
            {isTooMany
              ? `${entries.length} entries; purge at most ${maxEntries} at once.`
              : purgeBy === 'tags'
                ? 'Separate with spaces, commas or new lines. The app sets tags in Surrogate-Key or Cache-Tag. Only matching entries are purged.'
                : 'One per line: a path with its query, or a full URL. All variants are purged.'}
          </p>
        </div>
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button type="submit" busy={form.is_busy} disabled={!canSubmit}>
            {entries.length < 2 ? 'Purge' : `Purge ${entries.length} ${purgeBy === 'tags' ? 'tags' : 'URLs'}`}
          </Button>
        </footer>
      </form>
    </section>
  )
}

function parseEntries(text: string, purgeBy: PurgeBy): string[] {
  const parts = text.split(purgeBy === 'tags' ? /[\s,]+/ : /\s*\n\s*/)
  return [...new Set(parts.map((part) => part.trim()).filter(Boolean))]
}

export function PurgeAllDialog({ project, onOpenChange }: { project: Project; onOpenChange: (open: boolean) => void }) {
  const purge = usePurgeAll({
    hidesErrorToast: true,
    successMessage: purgeSummary,
    onSuccess: () => onOpenChange(false),
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Purge the whole cache of ${project.name}?`}
      description="Removes everything the edge has stored for this project, including previews. No data is lost, but responses are slower until the cache fills again."
    >
      {purge.error && <ProblemView problem={purge.error} />}
      <footer className="dialog-footer">
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button kind="primary" busy={purge.isPending} onClick={() => purge.mutate({ params: { slug: project.slug } })}>
          Purge everything
        </Button>
      </footer>
    </Dialog>
  )
}
