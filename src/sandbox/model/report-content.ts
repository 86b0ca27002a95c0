/**
 * What a report says and how it is sent (spec 2.12): the same for templates, reports and scheduled reports.
 * What a caller sends is laid over what was there before.
 */
export type Section = {
  visible: boolean;
  heading: string;
  description: string;
  dynamic_data: Record<string, unknown>;
};

export interface ReportContent {
  general: { primary_color: string; language: string; date_format: string };
  sections: Record<string, Section>;
  section_order: string[];
}

export interface ReportEmail {
  senderId: string | null;
  subject: string;
  body: string;
  attachPdf: boolean;
}

/** What callers send: anything may be left out. */
export interface ContentPatch {
  general?: { [F in keyof ReportContent['general']]?: string | undefined } | undefined;
  sections?: Record<string, { [F in keyof Section]?: Section[F] | undefined }> | undefined;
  section_order?: string[] | undefined;
}

export interface EmailPatch {
  sender_email?: { id: string } | null | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
}
