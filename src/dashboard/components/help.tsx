/** The dialog with the keyboard shortcuts; `client/keyboard.ts` opens it. */
const shortcuts = [
  [['/', 'Ctrl K'], 'Search'],
  [['j', 'k'], 'Next, previous row of a list'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row, where rows can be selected'],
  [['n'], 'Show the new rows of the list'],
  [['Esc'], 'Close, or leave the field'],
  [['?'], 'This help'],
] as const;

export const Help = () => (
  <dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keyboard shortcuts</h2>
    <dl>
      {shortcuts.map(([keys, meaning]) => (
        <>
          <dt>
            {keys.map((key) => (
              <>
                <kbd>{key}</kbd>{' '}
              </>
            ))}
          </dt>
          <dd>{meaning}</dd>
        </>
      ))}
    </dl>
    <form method="dialog">
      <p class="actions">
        <button type="submit">Close</button>
      </p>
    </form>
  </dialog>
);
