import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import './copy.css'

function useCopied(onCopied?: () => void): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async (text: string) => {
    const isDone = await copyText(text)
    setCopied(isDone)
    if (isDone) onCopied?.()
  }
  return [copied, (text) => void copy(text)]
}

export function CopyButton({ text, label, onCopied }: { text: string; label: string; onCopied?: () => void }) {
  const [copied, copy] = useCopied(onCopied)
  return <IconButton icon={copied ? Check : Copy} label={copied ? 'Copied' : label} onClick={() => copy(text)} />
}

/** A button with words for text that is made on click. */
export function CopyTextButton({ getText, children }: { getText: () => string; children: string }) {
  const [copied, copy] = useCopied()
  return (
    <Button kind="bare" icon={copied ? Check : Copy} onClick={() => copy(getText())}>
      {copied ? 'Copied' : children}
    </Button>
  )
}

/** Text that is copied on click, such as a hash or a request id. */
export function CopyText({ text, label = text }: { text: string; label?: string }) {
  const [copied, copy] = useCopied()
  return (
    <button type="button" className="copy-text mono" title={`Copy ${text}`} onClick={() => copy(text)}>
      {label}
      {copied ? <Check size={12} aria-label="copied" /> : <Copy size={12} aria-hidden />}
    </button>
  )
}

/** Over plain HTTP the clipboard API is unavailable; execCommand still works. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (done) return true
  }
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  return done
}
