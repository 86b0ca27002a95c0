import { yamlWithDefaults } from '../../policy/with-defaults.ts';
import { scrub } from '../../secrets.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { Yaml } from '../components/code.tsx';
import { policyTab } from './policy.tsx';

/** The policy with every default, and where its file has it. */
export const showDefinition = policyTab('Definition', (_, { control: { registry } }, policy) => {
  const { file, line, hash } = policy;
  return (
    <section id="definition" class="tab" data-live>
      <p>
        From <code>{line === undefined ? shortFile(file) : `${shortFile(file)}:${line}`}</code>, with what{' '}
        <code>defaults</code>, <code>vars</code> and <code>matrix</code> of the file make of it. Values with{' '}
        <code># default</code> hold without being written. <span class="dim">Version {hash}.</span>
      </p>
      <Yaml name={`Definition of ${policy.name}`} text={scrub(yamlWithDefaults(policy, registry))} />
    </section>
  );
});
