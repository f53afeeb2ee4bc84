import { FileUp } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { type DroppedSource, acceptedFiles, inspectFiles } from '../../lib/dropped-source.ts'

/** Opens the file dialog, as an alternative to drag and drop. */
export function ChooseArchiveButton({ children, onChosen }: { children: string; onChosen: (chosen: DroppedSource) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button icon={FileUp} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept={acceptedFiles}
        aria-label="Archive"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          target.value = ''
          if (files.length > 0) void inspectFiles(files).then(onChosen)
        }}
      />
    </>
  )
}
